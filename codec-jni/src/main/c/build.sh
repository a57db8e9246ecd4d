#!/bin/sh
# Builds the native codec: build.sh JAVA_HOME CLASSES_FOLDER. Where it cannot, it says so and leaves
# none: Ashlar then computes in Java.
set -u
java_home=$1
here=$(dirname "$0")
case $(uname -sm) in
  "Linux x86_64") platform=linux-x86_64 ;;
  "Linux aarch64") platform=linux-aarch64 ;;
  *) platform= ;;
esac
folder=$2/native/$platform
library=$folder/libashlarcodec.so
fresh=$library.$$

without() {
  rm -f "$library" "$fresh"
  echo "[WARNING] The native codec is not built: $1." >&2
  echo "[WARNING] Ashlar will compute erasure codes in Java, several times slower." >&2
  echo "[WARNING] On Debian and Ubuntu: apt-get install gcc libc6-dev libisal-dev" >&2
  exit 0
}

[ -n "$platform" ] || without "there is none for $(uname -sm)"
compiler=${CC:-gcc}
command -v "$compiler" > /dev/null || without "$compiler is not installed"
mkdir -p "$folder" || exit 1
echo '#include <isa-l/erasure_code.h>' | "$compiler" -E -x c - > /dev/null 2>&1 \
  || without "the headers of libisal are not installed"
# Written beside and renamed: a running process may have the old one mapped.
"$compiler" -std=gnu11 -O2 -fPIC -shared -Wall -Wextra -Werror -Wl,-z,defs -Wl,-z,now \
  -I"$java_home/include" -I"$java_home/include/linux" \
  -o "$fresh" "$here/ashlarcodec.c" "$here/allocation.c" "$here/crc64nvme.c" "$here/md5lanes.c" \
  "$here/sha256pair.c" -lisal \
  || without "the compiler failed, see above"
mv "$fresh" "$library"
