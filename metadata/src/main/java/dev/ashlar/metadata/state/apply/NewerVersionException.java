package dev.ashlar.metadata.state.apply;

import java.util.Optional;

/** Tables or a log entry need a newer build than this one; they are left as they are. */
public final class NewerVersionException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public NewerVersionException(String what, int needed, int known) {
    super(
        String.format(
            "%s of version %d of metadata, and this build knows %d at most: nothing is lost, start it"
                + " with the newer build again",
            what, needed, known));
  }

  /** The one that caused this, if one did. */
  public static Optional<NewerVersionException> in(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof NewerVersionException newer) {
        return Optional.of(newer);
      }
    }
    return Optional.empty();
  }
}
