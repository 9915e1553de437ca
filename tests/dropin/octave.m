% SPDX-License-Identifier: BSD-3-Clause
% GNU Octave's products, factorizations and solvers, each by what defines its result, relative to its operands.
1;  % a script, though a function comes first

function holds(what, residual, limit)
  printf("%-24s %.1e\n", what, residual);
  if !(residual < limit)
    error("%s: %g", what, residual);
  end
end

n = 300;
rand("seed", 1);
A = rand(n) - 0.5;
B = rand(n, n - 37) - 0.5;
S = A' * A + n * eye(n);
T = triu(A) + n * eye(n);
u = rand(n - 37, 1);
v = rand(n, 1);
difference = @(X, Y) norm(X - Y, 1) / norm(Y, 1);
double_limit = 1e-12;

holds("A * B", difference((A * B) * u, A * (B * u)), double_limit);
holds("A' * B", difference((A' * B) * u, A' * (B * u)), double_limit);
holds("A' * A", difference((A' * A) * v, A' * (A * v)), double_limit);
holds("single", difference(double(single(A) * single(B)) * u, A * (B * u)), 1e-4);
x = A \ v;
holds("A \\ v", norm(A * x - v, 1) / (norm(A, 1) * norm(x, 1)), double_limit);
x = T \ B;
holds("triangular \\", norm(T * x - B, 1) / (norm(T, 1) * norm(x, 1)), double_limit);
[L, U, P] = lu(A);
holds("lu", difference(L * U, P * A), double_limit);
R = chol(S);
holds("chol", difference(R' * R, S), double_limit);
holds("inv", norm(A * inv(A) - eye(n), 1) / (norm(A, 1) * norm(inv(A), 1)), double_limit);
[Q, R] = qr(A);
holds("qr", difference(Q * R, A), double_limit);
[U, D, V] = svd(A);
holds("svd", difference(U * D * V', A), double_limit);
[V, D] = eig(S);
holds("eig", difference(V * D * V', S), double_limit);
