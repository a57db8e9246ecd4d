package dev.ashlar.metadata.consensus.checkpoint;

/** The tables of this peer cannot be read now: the peer has stopped, or they are being rebuilt. */
public final class UnreadableTablesException extends IllegalStateException {
  private static final long serialVersionUID = 1;

  UnreadableTablesException(String why) {
    super(why);
  }
}
