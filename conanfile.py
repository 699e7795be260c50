# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

required_conan_version = ">=2.0"


class Devplace(ConanFile):
    name = "devplace"
    description = "Tensors, networks and data-parallel training with the placement in the type"
    license = "Apache-2.0 WITH LLVM-exception"
    topics = ("tensor", "neural-network", "cuda", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    implements = ["auto_header_only"]  # one package for every setting and every component
    exports_sources = "CMakeLists.txt", "cmake/*", "include/*", "LICENSE"
    no_copy_source = True

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "include", "devplace", "version.hpp"))
        self.version = ".".join(re.findall(r"DEVPLACE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))

    def layout(self):
        cmake_layout(self)

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False  # else it writes CMakeUserPresets.json into the sources
        toolchain.cache_variables["DEVPLACE_BUILD_TESTS"] = False
        toolchain.cache_variables["DEVPLACE_BUILD_EXAMPLES"] = False
        toolchain.generate()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        cmake = CMake(self)
        cmake.configure()
        cmake.install()

    def package_info(self):
        # Consumers read devplace's own package file, so that COMPONENTS mean what they mean without Conan.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "devplace")]
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
