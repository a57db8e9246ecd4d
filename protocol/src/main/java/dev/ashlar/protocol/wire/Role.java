package dev.ashlar.protocol.wire;

/** The role in which a process opens or accepts a connection; the numbers never change. */
public enum Role implements Coded {
  GATEWAY(1),
  STORAGE_NODE(2),
  METADATA(3),
  REPAIR(4);

  private final byte code;

  Role(int code) {
    this.code = (byte) code;
  }

  @Override
  public byte code() {
    return code;
  }
}
