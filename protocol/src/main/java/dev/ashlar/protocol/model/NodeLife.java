package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.NodeRow;

/** When a node counts as up; all times are log time, so everybody agrees. */
public final class NodeLife {
  /** How often a node says that it is alive. */
  public static final long HEARTBEAT_MS = 3_000;

  /** After so long without it a node is down. */
  public static final long DOWN_MS = 5 * HEARTBEAT_MS;

  /** After so long the row of a node without drives goes. */
  public static final long FORGOTTEN_MS = 3_600_000;

  private NodeLife() {}

  public static boolean isUp(NodeRow node, long logTimeMs) {
    return node.getHeartbeatMs() + DOWN_MS >= logTimeMs;
  }
}
