// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Fields over places: cells of a grid with ghost rows, exchanges, stencils, reductions and files (docs/fields.md). Not
// part of all.hpp: programs with fields include it, too.

#include <devplace/parallel/exchange.hpp>
#include <devplace/parallel/field.hpp>
#include <devplace/parallel/field_files.hpp>
#include <devplace/parallel/field_reduce.hpp>
#include <devplace/parallel/stencil.hpp>
#include <devplace/place/halo.hpp>
