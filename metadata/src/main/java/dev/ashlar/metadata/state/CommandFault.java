package dev.ashlar.metadata.state;

/**
 * A command of a log entry at which apply failed: a bug, or something that no check expected. The
 * same on every peer that applies by the same rules to the same rows.
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
