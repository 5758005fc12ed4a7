import os

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

config.substitutions.append(("%es_src", config.es_source_root))
config.substitutions.append(("%es_build", config.es_build_root))
config.substitutions.append(("%es_cmake", config.cmake))
config.substitutions.append(("%es_cxx", config.cxx))
config.substitutions.append(
    ("%es_plugin", os.path.join(config.es_build_root, "lib", "ESPlugin.so"))
)
config.substitutions.append(("%python", "python3"))
