package dev.ashlar.metadata.state.apply;

import java.util.TreeSet;

/**
 * Tells new requests of a session from repeated ones. Requests come nearly in their order: those
 * that others have overtaken are remembered, so that they are known to be new when they come.
 */
final class SeenRequests {
  /** More than a gateway has in flight; of more, the oldest are forgotten. */
  static final int OVERTAKEN_MAX = 4096;

  private final TreeSet<Long> overtaken = new TreeSet<>();
  private long greatest;

  /**
   * @param floor the requests up to this one were seen
   */
  SeenRequests(long floor) {
    greatest = floor;
  }

  /**
   * Notes a request.
   *
   * @return true: it was not seen before; false: it may have been
   */
  boolean add(long request) {
    if (request <= greatest) {
      return overtaken.remove(request);
    }
    for (long each = Math.max(greatest + 1, request - OVERTAKEN_MAX); each < request; each++) {
      overtaken.add(each);
    }
    while (overtaken.size() > OVERTAKEN_MAX) {
      overtaken.pollFirst();
    }
    greatest = request;
    return true;
  }

  /** Requests up to this one are asked for no more. */
  void forget(long floor) {
    overtaken.headSet(floor, true).clear();
  }
}
