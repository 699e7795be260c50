# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the coefficients of include/devplace/ops/detail/normal_distribution.hpp. Needs mpmath.

Phi(-a) = exp(-a^2 / 2) p(q) / (a + 5) with q = (a - 5) / (a + 5) for 0 <= a <= limit, where Phi(-limit) rounds to 0.
p interpolates (a + 5) exp(a^2 / 2) Phi(-a) in the Chebyshev nodes of the interval of q.
"""

import mpmath
from mpmath import mpf

mpmath.mp.dps = 60
CENTRE = 5


def scaled_tail(a):
    return (a + CENTRE) * mpmath.erfc(a / mpmath.sqrt(2)) * mpmath.exp(a * a / 2) / 2


def coefficients(degree, limit):
    low, high = mpf(-1), mpf(limit - CENTRE) / (limit + CENTRE)
    nodes = [mpmath.cos(mpmath.pi * (2 * j + 1) / (2 * degree + 2)) for j in range(degree + 1)]
    nodes = [(low + high) / 2 + node * (high - low) / 2 for node in nodes]
    powers = mpmath.matrix([[q**k for k in range(degree + 1)] for q in nodes])
    values = mpmath.matrix([scaled_tail(CENTRE * (1 + q) / (1 - q)) for q in nodes])
    return mpmath.lu_solve(powers, values)


for name, degree, limit, digits in (("float", 10, 15, 9), ("double", 22, 39, 17)):
    print(name)
    for coefficient in coefficients(degree, limit):
        print("   ", mpmath.nstr(coefficient, digits, min_fixed=0, max_fixed=0))
