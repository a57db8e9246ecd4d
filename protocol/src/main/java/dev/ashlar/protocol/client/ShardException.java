package dev.ashlar.protocol.client;

/** A drive's refusal or failure; carries no stack trace when it stands for an expected answer. */
public final class ShardException extends Exception {
  private static final long serialVersionUID = 1;

  private final ShardFault fault;

  public ShardException(ShardFault fault, String message) {
    super(message, null, false, false);
    this.fault = fault;
  }

  public ShardException(ShardFault fault, String message, Throwable cause) {
    super(message, cause);
    this.fault = fault;
  }

  public ShardFault fault() {
    return fault;
  }
}
