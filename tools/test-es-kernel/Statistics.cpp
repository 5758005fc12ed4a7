//===- Statistics.cpp - What the compiled kernel draws --------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Draws come from a compiled es.perturb of zeros, for two parameters at once,
// and what a compiled es.update adds to zeros for one pair must be the same
// bits. Every tolerance is five standard errors, which a right kernel misses
// once in two million tests; the draws are always the same.
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::es;

static constexpr int64_t kElements = 1 << 20;

static std::string getText(StringRef noise) {
  std::string text = R"(
func.func @draw(%z: memref<1048576xf32>, %x: memref<1048576xf32>, %y: memref<1048576xf32>,
    %seed: i64, %step: i64, %m: index) attributes {llvm.emit_c_interface} {
  %key = es.step_key %seed, %step
  es.perturb NOISE %z <trainable "x"> into %x key(%key) member(%m) {sigma = 1.0}
      : memref<1048576xf32> into memref<1048576xf32>
  es.perturb NOISE %z <trainable "y"> into %y key(%key) member(%m) {sigma = 1.0}
      : memref<1048576xf32> into memref<1048576xf32>
  return
}
func.func @add(%x: memref<1048576xf32>, %y: memref<1048576xf32>, %c: memref<?xf32>,
    %seed: i64, %step: i64) attributes {llvm.emit_c_interface} {
  %key = es.step_key %seed, %step
  %n = arith.constant 1 : i64
  %u = arith.constant 1.0 : f64
  es.update sgd maximize NOISE key(%key) weights(%c, %n, %u : memref<?xf32>)
      params(%x, %y : memref<1048576xf32>, memref<1048576xf32>)
      as [#es.param<trainable "x">, #es.param<trainable "y">] {sigma = 1.0, lr = 1.0}
  return
}
)";
  for (size_t at; (at = text.find("NOISE")) != std::string::npos;)
    text.replace(at, 5, noise.str());
  return text;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {
/// Counts in bins of 2^-16 over [-8, 8).
struct Histogram {
  std::vector<uint32_t> counts = std::vector<uint32_t>(1 << 20);
  void add(float z) {
    int bin = int(std::floor((z + 8.0f) * 0x1p16f));
    ++counts[std::min(std::max(bin, 0), (1 << 20) - 1)];
  }
  double getDistance(double n) const;
};

struct Sums {
  double n = 0, first = 0, second = 0, third = 0, fourth = 0;
  /// Of elements so far apart: of z, and of z^2 - 1.
  static constexpr int64_t kLags[] = {1, 16, 64, 128, 2048};
  double products[5] = {}, squares[5] = {};
  double others = 0;
  double beyond[3] = {}, most = 0;
  static constexpr double kTails[] = {3, 4, 4.5};
  Histogram histogram;

  void add(const std::vector<float> &x, const std::vector<float> &y);
};
} // namespace

static double cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// No less than the Kolmogorov-Smirnov distance times sqrt(n): within a bin
/// neither distribution function leaves what it has at the ends. A bin holds
/// 0.4 * 2^-16 at most, at n = 2^27 that is 0.07 more than the distance.
double Histogram::getDistance(double n) const {
  double worst = 0, below = 0;
  for (size_t bin = 0; bin < counts.size(); ++bin) {
    double from = cdf(double(bin) * 0x1p-16 - 8);
    double to = cdf(double(bin + 1) * 0x1p-16 - 8);
    double after = below + counts[bin];
    worst = std::max({worst, to - below / n, after / n - from});
    below = after;
  }
  return worst * std::sqrt(n);
}

void Sums::add(const std::vector<float> &x, const std::vector<float> &y) {
  // Short sums in double precision, so that 2^27 terms lose nothing.
  double z1 = 0, z2 = 0, z3 = 0, z4 = 0, xy = 0;
  for (int64_t e = 0; e < kElements; ++e) {
    double z = x[e], square = z * z;
    z1 += z;
    z2 += square;
    z3 += square * z;
    z4 += square * square;
    xy += z * y[e];
    double magnitude = std::fabs(z);
    if (magnitude > 3) {
      for (int i = 0; i < 3; ++i)
        beyond[i] += magnitude > kTails[i];
      most = std::max(most, magnitude);
    }
    histogram.add(x[e]);
  }
  for (int i = 0; i < 5; ++i) {
    double product = 0, square = 0;
    for (int64_t e = kLags[i]; e < kElements; ++e) {
      double z = x[e], w = x[e - kLags[i]];
      product += z * w;
      square += (z * z - 1) * (w * w - 1);
    }
    products[i] += product;
    squares[i] += square;
  }
  n += kElements;
  first += z1;
  second += z2;
  third += z3;
  fourth += z4;
  others += xy;
}

//===----------------------------------------------------------------------===//
// The checks
//===----------------------------------------------------------------------===//

namespace {
/// Collects what is out of bounds.
struct Verdict {
  std::string errors;
  void check(const llvm::Twine &what, double value, double expected,
             double error) {
    llvm::outs() << "  " << what << ": " << llvm::format("%.4g", value)
                 << ", expected "
                 << llvm::format("%.4g, off by %.2f standard errors", expected,
                                 (value - expected) / error)
                 << "\n";
    if (!(std::fabs(value - expected) <= 5 * error))
      errors += (errors.empty() ? "" : ", ") + what.str();
  }
};
} // namespace

/// What a distribution has in theory.
namespace {
struct Expected {
  double variance = 1, fourth = 3, eighth = 105;
  /// Shares beyond the tails; none of noise that is not normal.
  std::vector<double> tails;
};
} // namespace

static Expected getExpected(StringRef noise) {
  if (noise == "rademacher")
    return {1, 1, 1, {}};
  // E z^k = 3^(k/2) / (k + 1).
  if (noise == "uniform")
    return {1, 9.0 / 5, 9, {}};
  // Sums over the table with Phi^-1 of its 256 points: the squares sum to 65122
  // sixteenths squared, and 46/16 bounds the other moments by those of a
  // normal.
  if (noise == "int8")
    return {65122.0 / 65536, 3, 105, {}};
  Expected e;
  for (double tail : Sums::kTails)
    e.tails.push_back(2 * cdf(-tail));
  if (noise == "normal32")
    return e;
  // R takes 2^16 values only: E R^k over them times E sin^k, 1/2, 3/8, 35/128.
  // Beyond t is the share of angles with |sin| > t / R, 2 acos(t / R) / pi.
  e = {0, 0, 0, std::vector<double>(3)};
  for (int h = 0; h < 65536; ++h) {
    double square = -2 * std::log((h + 0.5) / 65536);
    e.variance += square / 2 / 65536;
    e.fourth += square * square * 3 / 8 / 65536;
    e.eighth += std::pow(square, 4) * 35 / 128 / 65536;
    for (int i = 0; i < 3; ++i)
      if (double cosine = Sums::kTails[i] / std::sqrt(square); cosine < 1)
        e.tails[i] += 2 * std::acos(cosine) / std::acos(-1.0) / 65536;
  }
  return e;
}

static void checkMoments(const Sums &s, StringRef noise, const Expected &e,
                         Verdict &verdict) {
  double n = s.n, root = std::sqrt(n);
  verdict.check("mean", s.first / n, 0, std::sqrt(e.variance) / root);
  // Of rademacher noise every square is 1, and so is the mean of them.
  double spread = std::sqrt(e.fourth - e.variance * e.variance);
  verdict.check("variance", s.second / n, e.variance,
                std::max(spread, 1e-9) / root);
  // Odd moments vanish by symmetry; E z^6 is 15 at most.
  verdict.check("third moment", s.third / n, 0, std::sqrt(15.0) / root);
  if (noise != "int8")
    verdict.check("fourth moment", s.fourth / n, e.fourth,
                  std::max(std::sqrt(e.eighth - e.fourth * e.fourth), 1e-9) /
                      root);
}

/// The variance of a product of two independent ones is 1, that of (z^2 - 1) of
/// normal noise 2.
static void checkIndependence(const Sums &s, bool isNormal, Verdict &verdict) {
  double n = s.n, root = std::sqrt(n);
  for (int i = 0; i < 5; ++i) {
    std::string apart = " " + std::to_string(Sums::kLags[i]) + " apart";
    verdict.check("product" + apart, s.products[i] / n, 0, 1 / root);
    if (isNormal)
      verdict.check("product of squares" + apart, s.squares[i] / n, 0,
                    2 / root);
  }
  verdict.check("product of two parameters", s.others / n, 0, 1 / root);
}

static void checkDistribution(const Sums &s, const Expected &e,
                              Verdict &verdict) {
  double n = s.n, root = std::sqrt(n);
  for (size_t i = 0; i < e.tails.size(); ++i)
    verdict.check("draws beyond " + llvm::formatv("{0:f1}", Sums::kTails[i]),
                  s.beyond[i], n * e.tails[i], std::sqrt(n * e.tails[i]));
  // A right sample exceeds 1.95 once in a thousand; bins add 0.4 * 2^-16.
  double distance = s.histogram.getDistance(n);
  double most = 1.95 + 0.4 * 0x1p-16 * root;
  llvm::outs() << llvm::format("  Kolmogorov-Smirnov: at most %.3f of %.3f, "
                               "kurtosis %.5f, |z| at most %.3f\n",
                               distance, most,
                               s.fourth * n / (s.second * s.second), s.most);
  if (!(distance < most))
    verdict.errors += " Kolmogorov-Smirnov";
}

std::string mlir::es::runStatistics(MLIRContext &context, StringRef noise,
                                    unsigned logDraws) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(getText(noise), &context);
  if (!module)
    return "does not parse";
  std::unique_ptr<ExecutionEngine> engine = compile(*module, Case());
  if (!engine)
    return "does not compile";
  std::vector<float> zero(kElements, 0.0f), x(kElements), y(kElements);
  std::vector<float> a(kElements), b(kElements), one = {1};
  auto call = [&](const char *name, std::vector<Descriptor> memrefs,
                  std::vector<int64_t> scalars) {
    std::vector<void *> pointers;
    for (Descriptor &memref : memrefs)
      pointers.push_back(memref.words.data());
    SmallVector<void *> packed;
    for (void *&pointer : pointers)
      packed.push_back(&pointer);
    for (int64_t &scalar : scalars)
      packed.push_back(&scalar);
    llvm::cantFail(engine->invokePacked(name, packed));
  };
  Descriptor dz(zero.data(), {kElements}), dx(x.data(), {kElements}),
      dy(y.data(), {kElements}), da(a.data(), {kElements}),
      db(b.data(), {kElements}), dc(one.data(), {1});
  Sums sums;
  int64_t members = std::max<int64_t>((int64_t(1) << logDraws) / kElements, 1);
  for (int64_t member = 0; member < members; ++member) {
    call("_mlir_ciface_draw", {dz, dx, dy}, {42, 7, member});
    if (member == 0) {
      // What is added for pair 0 with c = S = lr = 1 is what perturbed.
      call("_mlir_ciface_add", {da, db, dc}, {42, 7});
      if (std::memcmp(a.data(), x.data(), 4 * kElements) ||
          std::memcmp(b.data(), y.data(), 4 * kElements))
        return "the update's noise is not that of the perturbation";
    }
    sums.add(x, y);
  }
  llvm::outs() << noise << ", " << int64_t(sums.n) << " draws\n";
  Verdict verdict;
  Expected expected = getExpected(noise);
  checkMoments(sums, noise, expected, verdict);
  checkIndependence(sums, !expected.tails.empty(), verdict);
  if (!expected.tails.empty())
    checkDistribution(sums, expected, verdict);
  return verdict.errors;
}
