#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# debian-packages.sh [--try FOLDER]: builds the Debian packages into build/deb/packages. With --try they are installed and
# used in a fresh Debian 12 that debootstrap makes in FOLDER (needs root, the network and 1.5 GB; FOLDER is removed at the
# end): the program, NumPy on the alternative for libblas.so.3, the Python package, a client's build.
set -euo pipefail
cd "$(dirname "$0")/.."
root=
case "${1:-} $#" in
  " 0") ;;
  "--try 2") root=$2 ;;
  *)
    echo "usage: $0 [--try FOLDER]" >&2
    exit 2
    ;;
esac
if [[ -n $root && -e $root ]]; then
  echo "$root exists already" >&2
  exit 2
fi

launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake -S . -B build/deb -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DBUILD_TESTING=OFF \
  -DHEPTAD_BUILD_BENCH=OFF -DHEPTAD_WITH_CUDA=OFF "${launcher[@]}" ${HEPTAD_DEB_OPTIONS:-}
cmake --build build/deb -j "$(nproc)"
rm -rf build/deb/packages
(cd build/deb && cpack)
ls -l build/deb/packages/*.deb
[[ $root ]] || exit 0

if ((EUID != 0)); then
  echo "--try needs root" >&2
  exit 1
fi
step() { printf '\n== %s\n' "$*"; }
inside() { DEBIAN_FRONTEND=noninteractive LC_ALL=C chroot "$root" "$@"; }
install() { inside apt-get install -q -y --no-install-recommends "$@" >"$root/log" || { cat "$root/log" && exit 1; }; }
debs() { (cd "$root" && for pattern; do compgen -G "packages/$pattern" | sed 's|^|/|'; done); }  # as seen inside
leave() { # what is mounted first: nothing of the system may be removed with the folder
  umount "$root/proc" "$root/sys" 2>/dev/null || true
  mountpoint -q "$root/proc" || mountpoint -q "$root/sys" || rm -rf "$root"
}
trap leave EXIT

step "a fresh Debian 12 in $root"
debootstrap --variant=minbase bookworm "$root" >/dev/null
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
cp /etc/resolv.conf "$root/etc/"
if compgen -G '/etc/apt/apt.conf.d/*proxy*' >/dev/null; then cp /etc/apt/apt.conf.d/*proxy* "$root/etc/apt/apt.conf.d/"; fi
inside apt-get update -q >/dev/null
mkdir "$root/packages" "$root/work"
cp build/deb/packages/*.deb "$root/packages/"
cp -r examples/find_package "$root/work/client"

step "heptad-tools"
install $(debs "heptad-tools_*.deb")
inside heptad --version
inside heptad explain gemm -m 4096 -n 4096 -k 4096

step "libheptad-blas: preloaded into NumPy, and as the alternative for libblas.so.3"
install $(debs "libheptad[0-9]_*.deb" "libheptad-blas_*.deb") python3-numpy libblas3
product='import numpy as np
A = np.random.default_rng(1).uniform(-1, 1, (1500, 1500)); C = A @ A
print("max difference", abs(C[:9] - [[sum(A[i, l] * A[l, j] for l in range(1500)) for j in range(1500)] for i in range(9)]).max())
assert abs(C[0, 0] - sum(A[0] * A[:, 0])) < 1e-10'
blas=/usr/lib/x86_64-linux-gnu/libblas.so.3
carried() { # what, command...: the drop-in's audit must tell of a product by Strassen's method
  local what=$1
  shift
  HEPTAD_VERBOSE=1 HEPTAD_FORCE_LEVELS=1 inside "$@" 2>&1 | tee "$root/log"
  grep -q 'heptad-blas.*dgemm' "$root/log" || { echo "$what: no product was carried" >&2 && exit 1; }
}
before=$(readlink -f "$root$(readlink "$root$blas")")
echo "libblas.so.3 after the installation: $before"
[[ $before != */heptad/* ]] || { echo "the drop-in must be chosen by hand only" >&2 && exit 1; }
carried preloaded env LD_PRELOAD=libheptad_blas.so python3 -c "$product"
inside update-alternatives --set libblas.so.3-x86_64-linux-gnu /usr/lib/x86_64-linux-gnu/heptad/libblas.so.3
carried alternative python3 -c "$product"

if compgen -G "$root/packages/python3-heptad_*.deb" >/dev/null; then
  step "python3-heptad"
  install $(debs "python3-heptad_*.deb")
  inside python3 -c 'import heptad, numpy as np; print(heptad.__version__)
C, report = heptad.matmul(np.ones((700, 600)), np.ones((600, 500)), return_report=True)
assert (C == 600).all(); print(report)'
fi

step "libheptad-dev: a client's build by CMake and by pkg-config"
install $(debs "libheptad-dev_*.deb") g++ cmake make pkg-config
inside sh -ec 'cmake -S /work/client -B /work/build >/dev/null && cmake --build /work/build && /work/build/client
g++ -std=c++20 /work/client/client.cpp -o /work/by-hand $(pkg-config --cflags --libs heptad) && /work/by-hand'

if compgen -G "$root/packages/libheptad*-starpu_*.deb" >/dev/null; then
  step "libheptad-starpu-dev"
  install $(debs "libheptad*starpu*.deb") libstarpu-dev
  cp tests/package/components/starpu.c "$root/work/"
  inside sh -ec 'cc /work/starpu.c -o /work/starpu $(pkg-config --cflags --libs heptad-starpu) && STARPU_NCPU=2 /work/starpu'
fi

step "removal"
inside apt-get remove -q -y libheptad-blas >/dev/null
after=$(readlink -f "$root$(readlink "$root$blas")")
echo "libblas.so.3 is $after again"
[[ $after == "$before" ]]
echo
echo "all packages install, run and go away"
