package dev.ashlar.bench.process;

import java.time.Instant;

/**
 * What had been used at one instant; not a number where that is not known.
 *
 * @param serverCpuMillis CPU time of the server since it started
 * @param machineCpuMillis CPU time of the machine, without what made the load
 */
public record Usage(
    Instant at, double serverCpuMillis, double machineCpuMillis, double serverRssBytes) {}
