import os
import shutil
import subprocess

import lit.formats

config.name = "ES"
config.test_format = lit.formats.ShTest(not os.environ.get("ES_LIT_INTERNAL"))
config.suffixes = [".mlir", ".test", ".txt"]
config.excludes = ["Inputs", "CMakeLists.txt", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.es_build_root, "test")

config.environment["PATH"] = os.pathsep.join(
    [
        os.path.join(config.es_build_root, "bin"),
        config.llvm_tools_dir,
        config.environment["PATH"],
    ]
)

# Models from public repositories, beside the checkout; tests on them are
# unsupported where the folder is absent.
corpus = os.environ.get(
    "ES_CORPUS",
    os.path.join(config.es_source_root, "..", "shared", "corpus"),
)
if os.path.isdir(corpus):
    config.available_features.add("corpus")
    config.substitutions.append(("%corpus", os.path.realpath(corpus)))

if config.has_gtest == "1" or config.has_gtest.upper() == "TRUE":
    config.available_features.add("gtest")

config.substitutions.append(("%llvm_bin", config.llvm_tools_dir))
config.substitutions.append(("%es_src", config.es_source_root))
config.substitutions.append(("%es_build", config.es_build_root))
config.substitutions.append(("%es_cmake", config.cmake))
config.substitutions.append(("%es_cxx", config.cxx))
config.substitutions.append(
    ("%es_plugin", os.path.join(config.es_build_root, "lib", "ESPlugin.so"))
)

# Comparisons that take minutes run in CI, and where asked for.
if os.environ.get("CI") or os.environ.get("ES_PEERS"):
    config.available_features.add("ci")

# Tests of the exporters run where this Python has JAX or PyTorch.
python = os.environ.get("ES_PYTHON", "python3")
config.substitutions.append(("%python", python))
config.environment["PYTHONPATH"] = os.path.join(config.es_source_root, "python")
config.environment["ES_OPT"] = os.path.join(config.es_build_root, "bin", "es-opt")
for package in ("jax", "torch", "transformers"):
    probe = f"import importlib.util as u, sys; sys.exit(u.find_spec('{package}') is None)"
    if subprocess.run([python, "-c", probe], check=False).returncode == 0:
        config.available_features.add(package)

# LLVM's runtime of OpenMP, which threaded programs load.
if os.path.exists(os.path.join(config.llvm_tools_dir, "..", "lib", "libomp.so")):
    config.available_features.add("openmp")

if shutil.which("ptxas"):
    config.available_features.add("ptxas")

# Compiled programs run under valgrind where it is installed.
clang = shutil.which("clang-22") or os.path.join(config.llvm_tools_dir, "clang")
config.substitutions.append(("%es_clang", clang))
if shutil.which("valgrind") and os.path.exists(clang):
    config.available_features.add("valgrind")
