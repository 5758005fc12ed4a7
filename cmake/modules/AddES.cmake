# The one place for compile flags, linking and installation of es-opt targets.
#
# Everything links the single shared libMLIR. Naming a component library such
# as MLIRIR would pull in a second, static copy of the same code, whose type ids
# differ from those of the tool that loads the plugin.

include(GNUInstallDirs)

set(ES_MAIN_INCLUDE_DIR ${PROJECT_SOURCE_DIR}/include)
set(ES_GEN_INCLUDE_DIR ${PROJECT_BINARY_DIR}/include)
option(ES_USE_PCH "Precompile the MLIR headers that every file includes" ON)

add_library(es-flags INTERFACE)
target_compile_features(es-flags INTERFACE cxx_std_17)
target_include_directories(es-flags SYSTEM INTERFACE
  ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_include_directories(es-flags INTERFACE
  ${ES_MAIN_INCLUDE_DIR} ${ES_GEN_INCLUDE_DIR})
target_compile_options(es-flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wno-unused-parameter -fno-exceptions -fPIC>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-Xclang -fno-pch-timestamp>
  # As in LLVM: llvm::Error becomes llvm::Expected by a move that GCC finds redundant.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-redundant-move>)
if(NOT LLVM_ENABLE_RTTI)
  target_compile_options(es-flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endif()
target_link_libraries(es-flags INTERFACE MLIR LLVM)

if(ES_USE_PCH)
  file(WRITE ${CMAKE_BINARY_DIR}/pch.cpp "// Carrier of the precompiled header.\n")
  add_library(es-pch OBJECT ${CMAKE_BINARY_DIR}/pch.cpp)
  target_link_libraries(es-pch PRIVATE es-flags)
  target_precompile_headers(es-pch PRIVATE
    ${PROJECT_SOURCE_DIR}/cmake/modules/PrecompiledMLIR.h)
endif()

# Common to libraries and executables.
function(es_configure_target name)
  # Flags are ours alone; what users of a library need is said by its own
  # interface.
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:es-flags>)
  if(ES_USE_PCH)
    target_precompile_headers(${name} REUSE_FROM es-pch)
  endif()
endfunction()

# es_add_library(ESFoo A.cpp B.cpp DEPENDS <tablegen targets> LINK <es libraries>)
# A static, installed library, exported as es::ESFoo.
function(es_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  es_configure_target(${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${ES_MAIN_INCLUDE_DIR}>
    $<BUILD_INTERFACE:${ES_GEN_INCLUDE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS ${name} EXPORT ESOptTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# es_add_tool(es-foo foo.cpp LINK <es libraries>): an installed executable.
function(es_add_tool name)
  cmake_parse_arguments(ARG "NO_INSTALL" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  es_configure_target(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin
    INSTALL_RPATH_USE_LINK_PATH ON)
  if(NOT ARG_NO_INSTALL)
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endfunction()

# The package: libraries, headers, TableGen files and their output.
function(es_install_package)
  include(CMakePackageConfigHelpers)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ESOpt)
  install(EXPORT ESOptTargets NAMESPACE es:: DESTINATION ${package_dir})
  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/ESOptConfig.cmake.in
    ${PROJECT_BINARY_DIR}/cmake/ESOptConfig.cmake
    INSTALL_DESTINATION ${package_dir})
  write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/cmake/ESOptConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES
    ${PROJECT_BINARY_DIR}/cmake/ESOptConfig.cmake
    ${PROJECT_BINARY_DIR}/cmake/ESOptConfigVersion.cmake
    DESTINATION ${package_dir})
  install(DIRECTORY ${ES_MAIN_INCLUDE_DIR}/es ${ES_GEN_INCLUDE_DIR}/es
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.def" PATTERN "*.inc"
    PATTERN "CMakeFiles" EXCLUDE)
endfunction()
