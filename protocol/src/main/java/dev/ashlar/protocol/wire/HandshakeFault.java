package dev.ashlar.protocol.wire;

/** Why a handshake failed; the numbers never change. */
public enum HandshakeFault implements Coded {
  WRONG_CLUSTER(1),
  /** The other side's wire version is older. */
  OLDER_VERSION(2),
  /** The other side's wire version is newer. */
  NEWER_VERSION(3),
  WRONG_ROLE(4),
  /** The server has none of the expected drives. */
  WRONG_DRIVE(5),
  /** It does not know the cluster's secret, or has no trusted certificate. */
  NOT_AUTHENTIC(6),
  /** It has reached its limit of connections. */
  BUSY(7),
  /** The bytes received are no handshake. */
  MALFORMED(8);

  private final byte code;

  HandshakeFault(int code) {
    this.code = (byte) code;
  }

  @Override
  public byte code() {
    return code;
  }

  /** The same difference seen from the other side. */
  public HandshakeFault seenFromThere() {
    return switch (this) {
      case OLDER_VERSION -> NEWER_VERSION;
      case NEWER_VERSION -> OLDER_VERSION;
      case WRONG_CLUSTER, WRONG_ROLE, WRONG_DRIVE, NOT_AUTHENTIC, BUSY, MALFORMED -> this;
    };
  }
}
