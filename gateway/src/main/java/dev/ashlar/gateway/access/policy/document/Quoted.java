package dev.ashlar.gateway.access.policy.document;

/** Texts of clients in error messages. */
final class Quoted {
  private Quoted() {}

  /** At most this many characters, without control characters and halves of surrogate pairs. */
  static String shorten(String text, int charactersMax) {
    StringBuilder shortened = new StringBuilder();
    for (int i = 0; i < text.length() && i < charactersMax; i++) {
      char c = text.charAt(i);
      shortened.append(Character.isISOControl(c) || Character.isSurrogate(c) ? '?' : c);
    }
    return text.length() > charactersMax
        ? shortened.append("...").toString()
        : shortened.toString();
  }
}
