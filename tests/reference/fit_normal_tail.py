# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the coefficients of include/devplace/ops/detail/normal_distribution.hpp. Needs mpmath.

Phi(-a) = exp(-a^2 / 2) 2^raised P(a) / Q(a) for 0 <= a <= limit, where Phi(-limit) rounds to 0. The degree of Q, whose first
coefficient is 1, is one more than that of P. Minimises the squares of the relative errors in Chebyshev nodes.
"""

import mpmath
from mpmath import mpf

mpmath.mp.dps = 120


def scaled_tail(a):
    return mpmath.erfc(a / mpmath.sqrt(2)) * mpmath.exp(a * a / 2) / 2


def value(coefficients, x):
    return mpmath.polyval(coefficients[::-1], x)


def quotient(degree, limit):
    count = 10 * degree
    nodes = [mpf(limit) / 2 * (1 + mpmath.cos(mpmath.pi * (2 * j + 1) / (2 * count))) for j in range(count)]
    tails = [scaled_tail(a) for a in nodes]
    q = [mpf(1)]
    for _ in range(4):  # each time, weights are the denominators of the time before
        weights = [1 / (value(q, a) * tail) for a, tail in zip(nodes, tails)]
        rows = [
            [w * a**k for k in range(degree)] + [-w * tail * a**k for k in range(degree)]
            for a, tail, w in zip(nodes, tails, weights)
        ]
        a = mpmath.matrix(rows)
        b = mpmath.matrix([w * tail * x**degree for x, tail, w in zip(nodes, tails, weights)])
        solution = list(mpmath.lu_solve(a.T * a, a.T * b))
        p, q = solution[:degree], solution[degree:] + [mpf(1)]
    error = max(abs(value(p, a) / value(q, a) / tail - 1) for a, tail in zip(nodes, tails))
    return p, q, error


for name, degree, limit, raised, digits in (("float", 5, 14.43, 25, 9), ("double", 11, 38.61, 55, 17)):
    p, q, error = quotient(degree, limit)
    print(name, "relative error", mpmath.nstr(error, 2))
    for coefficients in ([c / 2**raised for c in p], q):
        print("   ", ", ".join(mpmath.nstr(c, digits, min_fixed=-2) for c in coefficients))
