package dev.ashlar.protocol.wire;

import dev.ashlar.protocol.memory.SlabPool;

/** Version and limits of the wire protocol. */
public final class Wire {
  /** Both sides of a connection must have the same version. */
  public static final int VERSION = 1;

  /**
   * What a server takes beyond what every build of this version does, as the request number of its
   * WELCOME, which older builds send as 0 and do not read: traces of requests.
   */
  public static final long TAKES_TRACES = 1;

  /** The longest body of a frame after the handshake. */
  public static final int BODY_BYTES_MAX = 64 << 10;

  /**
   * The longest body during the handshake, so that strangers cannot make a process allocate more.
   */
  public static final int HANDSHAKE_BYTES_MAX = 8 << 10;

  /** The longest data in one frame; longer data is cut. */
  public static final int CHUNK_BYTES_MAX = 128 << 10;

  /** The most data of one request or answer. */
  public static final int DATA_BYTES_MAX = SlabPool.MAX_SLAB_BYTES;

  /** The longest request of a call. */
  public static final int CALL_BYTES_MAX = 4 << 20;

  /** The longest answer of a call: a page of rows, or an object of many slices. */
  public static final int ANSWER_BYTES_MAX = 64 << 20;

  /** The most entries of a list in one message. */
  public static final int ENTRIES_MAX = 1024;

  /** The most drives of one storage node. */
  public static final int DRIVES_MAX = 256;

  private Wire() {}
}
