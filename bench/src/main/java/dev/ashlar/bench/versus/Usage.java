package dev.ashlar.bench.versus;

import java.time.Instant;

/**
 * What had been used at one instant; not a number where that is not known.
 *
 * @param serverCpuMillis CPU time of the server since it started
 * @param otherCpuMillis CPU time of the machine, without what warp and this program used
 */
record Usage(Instant at, double serverCpuMillis, double otherCpuMillis, double serverRssBytes) {}
