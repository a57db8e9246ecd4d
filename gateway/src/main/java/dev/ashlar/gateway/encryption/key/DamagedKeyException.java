package dev.ashlar.gateway.encryption.key;

/** A sealed data key cannot be opened with the key that sealed it. */
final class DamagedKeyException extends Exception {
  private static final long serialVersionUID = 1;

  DamagedKeyException(String message) {
    super(message);
  }
}
