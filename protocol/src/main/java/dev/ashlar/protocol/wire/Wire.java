package dev.ashlar.protocol.wire;

import dev.ashlar.protocol.memory.SlabPool;

/** Versions and bounds of the shard protocol. */
public final class Wire {
  /** What both sides of a connection must speak. */
  public static final int VERSION = 1;

  /** The longest structured part of a frame, once both sides know each other. */
  public static final int BODY_BYTES_MAX = 64 << 10;

  /** The same before that: whoever connects can make nobody allocate more. */
  public static final int GREETING_BYTES_MAX = 8 << 10;

  /** The longest piece of bulk data in one frame; longer data is cut. */
  public static final int CHUNK_BYTES_MAX = 128 << 10;

  /** The most data of one request or answer. */
  public static final int DATA_BYTES_MAX = SlabPool.MAX_SLAB_BYTES;

  /** The most that a call brings along. */
  public static final int CALL_BYTES_MAX = 4 << 20;

  /** The longest answer to a call: a page of rows, or an object of many slices. */
  public static final int ANSWER_BYTES_MAX = 64 << 20;

  /** The most folds, drops, deletes, deltas, attempts of a view, or listed ids in one message. */
  public static final int ENTRIES_MAX = 1024;

  /** The most drives of one storage node. */
  public static final int DRIVES_MAX = 256;

  private Wire() {}
}
