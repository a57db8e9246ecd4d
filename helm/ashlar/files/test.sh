# The job of `helm test`: with what the image has, the store's state is asked for, an object is put, read, listed and
# deleted with signed requests, and a request without a signature is refused.
set -euo pipefail
say() { printf '%s\n' "$*"; }
fail() { say "FAILED: $*"; exit 1; }

# HMAC-SHA256 of a text; keys and result in hexadecimal digits.
bytes() { printf "$(sed 's/../\\x&/g' <<< "$1")"; }
digest() { sha256sum | cut -d' ' -f1; }
hmac() {
  local key=$1 i inner= outer=
  while [ ${#key} -lt 128 ]; do key+=00; done
  for ((i = 0; i < 128; i += 2)); do
    inner+=$(printf '%02x' $((0x${key:i:2} ^ 0x36)))
    outer+=$(printf '%02x' $((0x${key:i:2} ^ 0x5c)))
  done
  inner=$({ bytes "$inner"; printf '%s' "$2"; } | digest)
  { bytes "$outer"; bytes "$inner"; } | digest
}

# Sends a signed request and prints the answer, head and body.
request() { # METHOD PATH QUERY BODY
  local stamp day scope hash head key part
  stamp=$(date -u +%Y%m%dT%H%M%SZ) day=${stamp%T*}
  scope=$day/$REGION/s3/aws4_request
  hash=$(printf '%s' "$4" | digest)
  head=$'host;x-amz-content-sha256;x-amz-date\n'$hash
  head=$(printf '%s\n%s\n%s\nhost:%s\nx-amz-content-sha256:%s\nx-amz-date:%s\n\n%s' \
    "$1" "$2" "$3" "$S3" "$hash" "$stamp" "$head" | digest)
  key=$(printf 'AWS4%s' "$ASHLAR_SECRET_KEY" | od -An -v -tx1 | tr -d ' \n')
  for part in "$day" "$REGION" s3 aws4_request $'AWS4-HMAC-SHA256\n'$stamp$'\n'$scope$'\n'$head; do
    key=$(hmac "$key" "$part")
  done
  send "$1" "$2${3:+?$3}" "$4" "x-amz-content-sha256: $hash" "x-amz-date: $stamp" \
    "Authorization: AWS4-HMAC-SHA256 Credential=$ASHLAR_ACCESS_KEY/$scope, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=$key"
}

# Sends a request with these headers.
send() { # METHOD TARGET BODY HEADER...
  local method=$1 target=$2 body=$3
  shift 3
  exec 3<> "/dev/tcp/${S3%:*}/${S3##*:}"
  { printf '%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\nConnection: close\r\n' "$method" "$target" "$S3" "${#body}"
    printf '%s\r\n' "$@" ''
    printf '%s' "$body"; } >&3
  timeout 30 cat <&3
  exec 3>&-
}
expect() { # STATUS WHAT ANSWER
  [[ "$3" == "HTTP/1.1 $1 "* ]] || fail "$2: $3"
  say "$2: $1"
}

say "State of the store:"
/opt/ashlar/bin/health page "$MANAGEMENT"
say
if [ -n "${TLS:-}" ]; then
  say "The S3 port speaks TLS, which this image has no client for: only the state was asked for."
  exit 0
fi
bucket=/helm-test-$RANDOM-$(date +%s)
text="written by helm test at $(date -u)"
expect 200 "create bucket" "$(request PUT "$bucket" '' '')"
expect 403 "list without a signature" "$(send GET "$bucket" '' 'x-amz-date: none')"
expect 200 "put" "$(request PUT "$bucket/object" '' "$text")"
answer=$(request GET "$bucket/object" '' '')
expect 200 "get" "$answer"
[[ "$answer" == *"$text" ]] || fail "other bytes were read: $answer"
answer=$(request GET "$bucket" 'list-type=2' '')
expect 200 "list" "$answer"
[[ "$answer" == *'<Key>object</Key>'* ]] || fail "the object is not listed: $answer"
expect 204 "delete" "$(request DELETE "$bucket/object" '' '')"
expect 204 "delete bucket" "$(request DELETE "$bucket" '' '')"
say "The store works."
