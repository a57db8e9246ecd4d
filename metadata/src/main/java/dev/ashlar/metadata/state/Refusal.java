package dev.ashlar.metadata.state;

import dev.ashlar.protocol.message.ResultCode;

/** A command that is answered with a code and changes nothing. */
final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final ResultCode code;

  Refusal(ResultCode code) {
    super(code.name(), null, false, false);
    this.code = code;
  }

  ResultCode code() {
    return code;
  }
}
