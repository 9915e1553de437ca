#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds StarPU 1.4 from Debian's source package, once, and prints its prefix as the last line:
#   build-starpu.sh             for CPU cores and OpenCL devices
#   build-starpu.sh --cuda      with CUDA too (CUDA_HOME or /usr/local/cuda; no device is needed)
#   build-starpu.sh --fxt       for CPU cores, and writes traces that StarPU's tools show (STARPU_FXT_TRACE=1)
#   build-starpu.sh --tsan      instrumented for ThreadSanitizer, CPU cores only (docs/starpu.md)
#   build-starpu.sh --simgrid   for `heptad simulate`: tasks take simulated time, on machines that nobody here has
# Use it by cmake -DHEPTAD_STARPU_PREFIX=<prefix>. STARPU_CACHE (default ~/.cache/heptad/starpu) says where it is kept.
# Ends with 3 when the sources could not be fetched.
set -euo pipefail
cd "$(dirname "$0")/.."

kind=plain
case ${1:-} in
  "") ;;
  --cuda) kind=cuda ;;
  --fxt) kind=fxt ;;
  --tsan) kind=tsan ;;
  --simgrid) kind=simgrid ;;
  *)
    echo "usage: $0 [--cuda | --fxt | --tsan | --simgrid]" >&2
    exit 2
    ;;
esac
cache=${STARPU_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/heptad/starpu}
prefix=$cache/$kind
recipe=$(sha256sum scripts/build-starpu.sh | cut -d' ' -f1)
if [[ -f $prefix/recipe && $(<"$prefix/recipe") == "$recipe" ]]; then
  echo "starpu: $(<"$prefix/version") ($kind) is built" >&2
  echo "$prefix"
  exit 0
fi

say() { echo "starpu: $*" >&2; }
log=$(mktemp)
work=$(mktemp -d)
trap 'rm -rf "$work" "$log"' EXIT
quietly() { # what, command...
  say "$1"
  shift
  "$@" >"$log" 2>&1 || { tail -40 "$log" >&2 && exit 1; }
}

needed=(dpkg-dev g++ make patch pkg-config libhwloc-dev libltdl-dev)
if [[ $kind == simgrid ]]; then needed+=(libsimgrid-dev libboost-dev); else needed+=(ocl-icd-opencl-dev); fi
if [[ $kind == fxt ]]; then needed+=(libfxt-dev); fi
missing=()
for package in "${needed[@]}"; do
  # shellcheck disable=SC2016  # ${Status} is dpkg-query's
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [[ $status == *"ok installed"* ]] || missing+=("$package")
done
if ((${#missing[@]} > 0)); then
  if ((EUID != 0)); then
    say "missing ${missing[*]}; run this as root"
    exit 1
  fi
  quietly "reading the package lists" apt-get update -q
  DEBIAN_FRONTEND=noninteractive quietly "installing ${missing[*]}" apt-get install -y -q --no-install-recommends "${missing[@]}"
fi

# Debian 12 has 1.3.10. The sources of later suites come from the archive that this machine's apt already uses, with
# its keys, through lists of their own: nothing of the machine's configuration changes.
mkdir -p "$work/lists/partial" "$work/sources"
# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
# shellcheck disable=SC2016  # the fields are apt's
archives=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' 'Origin: Debian' \
  "Codename: $release" | sort -u)
for archive in $archives; do
  printf 'Types: deb-src\nURIs: %s\nSuites: stable unstable\nComponents: main\nSigned-By: %s\n\n' "$archive" \
    /usr/share/keyrings/debian-archive-keyring.gpg
done >"$work/sources/starpu.sources"
apt=(-o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$work/sources" -o "Dir::State::Lists=$work/lists"
  -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root)
say "reading the lists of Debian's sources"
apt-get "${apt[@]}" update -q >"$log" 2>&1 || true  # of what it has, below
mapfile -t versions < <(apt-cache "${apt[@]}" showsrc starpu | awk '/^Version: 1[.]4[.]/ {print $2}' | sort -uVr)
version=
cd "$work"
for candidate in "${versions[@]}"; do # an archive may have given up what an older list still names
  say "fetching $candidate"
  if apt-get "${apt[@]}" source -q --download-only "starpu=$candidate" >"$log" 2>&1; then
    version=$candidate
    break
  fi
done
if [[ -z $version ]]; then
  tail -5 "$log" >&2
  say "none of ${versions[*]:-no version 1.4} could be fetched"
  exit 3
fi
quietly "unpacking" dpkg-source -x starpu_*.dsc source

flags=(--prefix="$prefix" --disable-static --enable-quick-check --disable-build-doc --disable-build-doc-pdf --disable-build-tests
  --disable-build-examples --disable-mpi --disable-socl --disable-starpufft --disable-starpupy --disable-starpurm
  --disable-openmp --disable-openmp-llvm --disable-fortran --disable-hip --disable-opengl-render --enable-blas-lib=none
  --enable-maxcpus=128)
[[ $kind == fxt ]] || flags+=(--without-fxt) # tracing costs time wherever the library is installed
case $kind in
  plain) flags+=(--disable-cuda --disable-simgrid) ;;
  cuda)
    cuda=${CUDA_HOME:-/usr/local/cuda}
    # CUDA 13 took computeMode out of cudaDeviceProp: the attribute says the same, in every version.
    driver=source/src/drivers/cuda/driver_cuda.c
    sed -i 's/if (props\[devid\]\.computeMode == cudaComputeModeExclusive)/int mode = cudaComputeModeDefault;\n\tcudaDeviceGetAttribute(\&mode, cudaDevAttrComputeMode, devid);\n\tif (mode == cudaComputeModeExclusive)/' "$driver"
    if grep -q 'props\[devid\].computeMode' "$driver"; then
      say "$driver of $version is not as the patch knows it"
      exit 1
    fi
    flags+=(--enable-cuda --with-cuda-dir="$cuda" --disable-simgrid --enable-maxcudadev=8)
    export LDFLAGS="-L$cuda/lib64/stubs -L$cuda/lib64" NVCCFLAGS=-arch=sm_90
    ;;
  fxt) flags+=(--disable-cuda --disable-opencl --disable-simgrid --with-fxt) ;;
  tsan)
    flags+=(--disable-cuda --disable-opencl --disable-simgrid)
    export CFLAGS="-g -O2 -fsanitize=thread" LDFLAGS=-fsanitize=thread
    ;;
  simgrid) flags+=(--enable-simgrid --disable-cuda --enable-maxcudadev=8) ;;
esac
cd source
quietly "configuring ($kind)" ./configure "${flags[@]}"
quietly "building (minutes)" make -j "$(nproc)"
rm -rf "$prefix"
quietly "installing into $prefix" make install
echo "$version" >"$prefix/version"
echo "$recipe" >"$prefix/recipe"
echo "$prefix"
