package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.NodeRow;

/** When a node counts as up. All times are log time, so all processes agree. */
public final class NodeLiveness {
  /** Interval of heartbeats. */
  public static final long HEARTBEAT_MS = 3_000;

  /** A node without a heartbeat for this long is down. */
  public static final long DOWN_MS = 5 * HEARTBEAT_MS;

  /** The row of a node without drives is removed after this time without a heartbeat. */
  public static final long FORGOTTEN_MS = 3_600_000;

  private NodeLiveness() {}

  public static boolean isUp(NodeRow node, long logTimeMs) {
    return node.getHeartbeatMs() + DOWN_MS >= logTimeMs;
  }
}
