# How the Java virtual machine that serves is set and started. Read by the launcher and by the container's command,
# and nowhere else: what is measured from the sources is what runs in a container.

# Sets `java_flags` for a JDK of this feature version, and the environment that goes with them.
set_java_flags() {
  local sizes
  # glibc would keep an arena per thread.
  export MALLOC_ARENA_MAX=2
  sizes="$("$(dirname "${BASH_SOURCE[0]}")/jvm-sizes")"
  # Where G1 adapts the threshold from which on it marks, the young generation has to have room in the
  # heap as it is: one that begins small is marked all the time. Fixed, it is this share of the heap.
  #
  # With the default limits of inlining (325 and 2500), the second compiler takes twice the time in the first half
  # minute, and what it makes is not faster.
  # shellcheck disable=SC2206 # several flags in one variable
  java_flags=(
    -Xms64m $sizes
    -XX:+UseG1GC -XX:-G1UseAdaptiveIHOP -XX:InitiatingHeapOccupancyPercent=60
    -XX:FreqInlineSize=120 -XX:InlineSmallCode=1000
    -XX:+ExitOnOutOfMemoryError
    --enable-native-access=ALL-UNNAMED
    -Dio.netty.leakDetection.level=disabled
  )
  [ "$1" -lt 24 ] || java_flags+=(--sun-misc-unsafe-memory-access=allow)
  [ "$1" -lt 25 ] || java_flags+=(-XX:+UseCompactObjectHeaders)
}

# Sets `archive_flags`, with which a start reads this archive of a rehearsal. Whatever is wrong with
# it, Java goes on without.
set_archive_flags() {
  archive_flags=("-XX:SharedArchiveFile=$2" -Xlog:cds=off -Xlog:cds+dynamic=off)
  [ "$1" -lt 25 ] || archive_flags=("-XX:AOTCache=$2" -Xlog:aot=off -Xlog:cds=off)
}

# The flags of `ashlar cluster`, ten processes or so that start at once on a developer's machine. Where processors are
# few, the second compiler takes a third of the time until all are ready. There, what runs is compiled only once, and
# runs slower later. ASHLAR_JAVA_OPTIONS come behind and have precedence.
crowd_flags() { [ "$(getconf _NPROCESSORS_ONLN)" -gt 4 ] || printf '%s' -XX:TieredStopAtLevel=1; }

# The option that has Java write such an archive when it ends.
recording_flag() {
  if [ "$1" -lt 25 ]; then printf '%s' "-XX:ArchiveClassesAtExit=$2"; else printf '%s' "-XX:AOTCacheOutput=$2"; fi
}

# Becomes the Java of this home, with `java_flags`, those of the user, and these arguments.
exec_java() {
  local home="$1" batch=()
  shift
  # Threads hand work to each other all the time. Where processors are busy, one that is woken would
  # take the processor from another, also of another program, and find one request to do where a
  # moment later there were five. In a batch it waits; where a processor is idle nothing is
  # different. Who has chosen how this is scheduled keeps it.
  if [[ "$(chrt -p $$ 2> /dev/null)" == *SCHED_OTHER* ]] && chrt -b 0 true 2> /dev/null; then
    batch=(chrt -b 0)
  fi
  # shellcheck disable=SC2086 # several options in one variable
  exec ${batch[@]+"${batch[@]}"} "$home/bin/java" "${java_flags[@]}" ${ASHLAR_JAVA_OPTIONS:-} "$@"
}
