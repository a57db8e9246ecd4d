package dev.ashlar.metadata.state;

/**
 * Apply failed at a command of a log entry because of a bug or of input that no check expected. It
 * fails in the same way on every peer with the same rules and rows.
 */
final class CommandFault extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int position;
  private final RuntimeException reason;

  /**
   * @param position of the command in its entry, from 0
   */
  CommandFault(int position, RuntimeException reason) {
    super("command " + position, reason, false, false);
    this.position = position;
    this.reason = reason;
  }

  int position() {
    return position;
  }

  RuntimeException reason() {
    return reason;
  }
}
