package dev.ashlar.protocol.client;

import org.jspecify.annotations.Nullable;

/**
 * Metadata did not answer within the deadline, or refused because of overload. The outcome of a
 * command is unknown unless {@link #isRefused} says that it was never proposed.
 */
public final class MetadataUnavailableException extends UnavailableException {
  private static final long serialVersionUID = 1;

  private final boolean refused;

  private MetadataUnavailableException(String message, boolean refused, @Nullable Throwable cause) {
    super(message, cause);
    this.refused = refused;
  }

  /** Nothing was proposed: the command will never take effect. */
  public static MetadataUnavailableException refused(String message) {
    return new MetadataUnavailableException(message, true, null);
  }

  /** The command may or may not have taken effect, now or later. */
  public static MetadataUnavailableException unknown(String message, Throwable cause) {
    return new MetadataUnavailableException(message, false, cause);
  }

  public boolean isRefused() {
    return refused;
  }
}
