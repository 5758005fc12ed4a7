# Shared by scripts/try and scripts/check: installs what is missing, builds.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${ES_BUILD_DIR:-$root/build}
llvm=/usr/lib/llvm-22/bin

packages=(libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22
          lld-22 cmake ninja-build ccache libgtest-dev libbenchmark-dev
          libomp-22-dev libzstd-dev zlib1g-dev python3 valgrind)

say() { echo "== $*" >&2; }

# True if a package of this name is installed.
installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

# Where apt cannot help: the tools without which nothing can be built.
need_tools() {
  local missing=() tool
  for tool in cmake ninja clang++-22 python3 "$llvm/ld.lld" \
              "$llvm/mlir-tblgen" "$llvm/mlir-opt" "$llvm/lit"; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  [ ${#missing[@]} -eq 0 ] && return
  say "this machine has no apt; please install LLVM and MLIR 22.1 with their" \
      "development files, CMake, Ninja and Python 3. Missing: ${missing[*]}"
  exit 1
}

install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    need_tools
    return
  fi
  local missing=() package sudo=
  for package in "${packages[@]}"; do
    installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      { say "not root and no sudo; please install: ${missing[*]}"; exit 1; }
    sudo=sudo
  fi
  say "installing ${missing[*]}"
  $sudo apt-get update -qq ||
    say "the lists of packages could not be refreshed; trying those at hand"
  if ! $sudo env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; then
    say "apt could not install: ${missing[*]} (LLVM 22 is in the repository" \
        "of apt.llvm.org)"
    exit 1
  fi
}

configure_and_build() {
  local launcher=()
  if [ ! -f "$build/build.ninja" ]; then
    say "configuring in $build"
    if command -v ccache >/dev/null; then
      launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    fi
    cmake --preset default -S "$root" -B "$build" "${launcher[@]}" >/dev/null
  fi
  say "building"
  # ccache takes precompiled headers only if told not to look at times.
  CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros} \
    cmake --build "$build" --target "${@:-all}" >&2
}

# A Python with JAX and PyTorch for the tests of the exporters: ES_PYTHON, or one made
# under the build folder (a large download, once). Without PyPI, or with
# ES_EXPORTERS=0, those tests are skipped.
python_environment() {
  [ -z "${ES_PYTHON:-}" ] && [ "${ES_EXPORTERS:-1}" != 0 ] || return 0
  local venv=$build/python
  if [ ! -f "$venv/.complete" ]; then
    say "installing JAX and PyTorch for the tests of the exporters (ES_EXPORTERS=0: without)"
    local pip=("$venv/bin/pip" install -q --retries 1 --timeout 20
      --disable-pip-version-check)
    local torch=torch==2.13.0
    # The build without CUDA is a tenth of the size; elsewhere than on PyPI.
    python3 -m venv "$venv" &&
      timeout 900 "${pip[@]}" jax numpy >&2 &&
      { timeout 900 "${pip[@]}" "$torch" \
        --index-url https://download.pytorch.org/whl/cpu >&2 2>/dev/null ||
        timeout 1200 "${pip[@]}" "$torch" >&2; } &&
      { timeout 300 "${pip[@]}" transformers==5.24.0 >&2 ||
        say "without Hugging Face Transformers"; } &&
      touch "$venv/.complete" ||
      { say "PyPI cannot be reached: the tests of the exporters are skipped"
        return 0; }
  fi
  export ES_PYTHON=$venv/bin/python
}
