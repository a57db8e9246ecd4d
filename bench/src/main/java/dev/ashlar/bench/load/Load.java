package dev.ashlar.bench.load;

import dev.ashlar.bench.process.BenchException;

/**
 * The work of one run.
 *
 * @param blockBytes of a read, patch or append; writes and replacements are of whole objects
 * @param isRandom otherwise each connection goes through the objects from its own place on
 * @param clients each with as many connections as the depth says
 * @param depth requests that a client has on their way at once
 * @param rate operations per second that are begun, whether the server keeps up or not; 0: each
 *     connection begins one when its last has ended
 * @param warmUpSeconds the same load before what is measured
 * @param operations after which it ends, without warming up and however long they take; 0: time
 *     decides
 */
public record Load(
    Mix mix,
    long blockBytes,
    boolean isRandom,
    int clients,
    int depth,
    double rate,
    double warmUpSeconds,
    double seconds,
    long seed,
    long operations) {
  private static final int CLIENTS_MAX = 16;
  private static final int DEPTH_MAX = 256;

  public Load {
    if (clients < 1 || clients > CLIENTS_MAX || depth < 1 || depth > DEPTH_MAX) {
      throw new BenchException("There are 1 to 16 clients, and each has a depth of 1 to 256.");
    }
    if (blockBytes < 1 || rate < 0 || warmUpSeconds < 0 || seconds <= 0) {
      throw new BenchException("Sizes and times have to be positive.");
    }
    if (operations < 0 || (operations > 0 && rate > 0)) {
      throw new BenchException("Either a number of operations ends a load, or it has a rate.");
    }
  }

  public int connections() {
    return clients * depth;
  }

  public boolean isOpen() {
    return rate > 0;
  }

  boolean isCounted() {
    return operations > 0;
  }

  public Load withSeed(long other) {
    return new Load(
        mix, blockBytes, isRandom, clients, depth, rate, warmUpSeconds, seconds, other, operations);
  }

  public Load withTimes(double otherWarmUpSeconds, double otherSeconds) {
    return new Load(
        mix,
        blockBytes,
        isRandom,
        clients,
        depth,
        rate,
        otherWarmUpSeconds,
        otherSeconds,
        seed,
        operations);
  }
}
