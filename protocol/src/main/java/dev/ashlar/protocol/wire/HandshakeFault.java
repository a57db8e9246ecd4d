package dev.ashlar.protocol.wire;

/** Why two sides do not speak to each other; the numbers are for ever. */
public enum HandshakeFault {
  WRONG_CLUSTER(1),
  /** The other side speaks a version from before ours. */
  OLDER_VERSION(2),
  /** The other side speaks a version from after ours. */
  NEWER_VERSION(3),
  WRONG_ROLE(4),
  /** It has none of the drives that are expected there. */
  WRONG_DRIVE(5),
  /** It does not know the cluster's secret, or has no certificate that is trusted. */
  NOT_AUTHENTIC(6),
  /** It has as many connections as it takes. */
  BUSY(7),
  /** What came is no handshake. */
  MALFORMED(8);

  private final byte code;

  HandshakeFault(int code) {
    this.code = (byte) code;
  }

  byte code() {
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

  static HandshakeFault of(byte code) throws WireFormatException {
    for (HandshakeFault fault : values()) {
      if (fault.code == code) {
        return fault;
      }
    }
    throw new WireFormatException("handshake fault " + code);
  }
}
