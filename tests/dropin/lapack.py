# SPDX-License-Identifier: BSD-3-Clause
"""The residuals of LAPACK's own tests (LAWN 41, §6: each is to be below 30) for LU, Cholesky, QR, SVD and solving, by
SciPy on the system's LAPACK, under whatever BLAS the environment sets. Prints them; fails at the first above 30."""
import sys

import numpy as np
import scipy.linalg as la

THRESHOLD = 30.0


def one_norm(x):
    return np.linalg.norm(x, 1)


def residuals(n, dtype):
    eps = np.finfo(dtype).eps / 2
    random = np.random.default_rng(n)
    A = random.uniform(-1, 1, (n, n)).astype(dtype)
    B = random.uniform(-1, 1, (n, 40)).astype(dtype)
    # Checked in double, by the sums of numpy, which use no BLAS.
    product = lambda X, Y: np.einsum("ij,jk->ik", X.astype(float), Y.astype(float))
    eye = np.eye(n)

    P, L, U = la.lu(A, check_finite=False)
    yield "LU: |PLU - A| / (n |A| eps)", one_norm(product(P, product(L, U)) - A) / (n * one_norm(A) * eps)
    X = la.solve(A, B, check_finite=False)
    yield ("solve: |AX - B| / (|A| |X| eps n)",
           one_norm(product(A, X) - B) / (one_norm(A) * one_norm(X) * eps * n))
    X = np.linalg.solve(A, B)
    yield ("numpy.linalg.solve: |AX - B| / (|A| |X| eps n)",
           one_norm(product(A, X) - B) / (one_norm(A) * one_norm(X) * eps * n))
    S = (product(A, A.T) + n * eye).astype(dtype)
    for lower in (True, False):
        F = la.cholesky(S, lower=lower, check_finite=False)
        G = product(F, F.T) if lower else product(F.T, F)
        yield f"Cholesky {'LLt' if lower else 'UtU'}: |LLt - S| / (n |S| eps)", one_norm(G - S) / (n * one_norm(S) * eps)
    Q, R = la.qr(A, check_finite=False)
    yield "QR: |QR - A| / (n |A| eps)", one_norm(product(Q, R) - A) / (n * one_norm(A) * eps)
    yield "QR: |I - QtQ| / (n eps)", one_norm(eye - product(Q.T, Q)) / (n * eps)
    W, s, Vt = la.svd(A, check_finite=False)
    yield "SVD: |W S Vt - A| / (n |A| eps)", one_norm(product(W * s, Vt) - A) / (n * one_norm(A) * eps)
    yield "SVD: |I - WtW| / (n eps)", one_norm(eye - product(W.T, W)) / (n * eps)


def main():
    worst = 0.0
    for n in (129, 300):
        for dtype in (np.float64, np.float32):
            for name, ratio in residuals(n, dtype):
                print(f"n = {n}, {np.dtype(dtype).name}, {name}: {ratio:.3f}")
                worst = max(worst, ratio if np.isfinite(ratio) else np.inf)
    return int(worst >= THRESHOLD)


if __name__ == "__main__":
    sys.exit(main())
