package dev.ashlar.metadata.state.apply;

import java.util.Optional;

/** Tables or a log entry need a newer build than this one; they are not changed. */
public final class NewerVersionException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public NewerVersionException(String what, int needed, int known) {
    super(
        String.format(
            "%s of metadata version %d, but this build supports %d at most. Nothing is "
                + "lost: restart with the newer build",
            what, needed, known));
  }

  /** The exception of this class among the causes, if there is one. */
  public static Optional<NewerVersionException> in(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof NewerVersionException newer) {
        return Optional.of(newer);
      }
    }
    return Optional.empty();
  }
}
