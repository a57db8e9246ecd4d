package dev.ashlar.metadata.state.apply;

import dev.ashlar.protocol.message.ResultCode;

/** Refuses a command: it is answered with this code and changes nothing. */
public final class RefusedCommandException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final ResultCode code;

  public RefusedCommandException(ResultCode code) {
    super(code.name(), null, false, false);
    this.code = code;
  }

  public ResultCode code() {
    return code;
  }
}
