package dev.ashlar.server.cli.admin;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Takes out of texts what looks like a secret. No page has any; this is for what a log line or a
 * path might quote.
 */
final class SecretRemoval {
  private static final String REMOVED = "(secret removed)";
  private static final Pattern PRIVATE_KEY =
      Pattern.compile(
          "-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*-----|\\z)", Pattern.DOTALL);

  /** What follows such a word and a sign is its value. */
  private static final Pattern NAMED =
      Pattern.compile(
          "((?:secret[_-]?(?:access[_-]?)?key|api[_-]?key|session[_-]?token|security-token|password"
              + "|x-amz-signature|signature|authorization)[\"']?\\s*[=:]\\s*[\"']?)[^\\s\"',&}<]+",
          Pattern.CASE_INSENSITIVE);

  private final List<String> known;

  /**
   * @param known secrets that the caller has
   */
  SecretRemoval(List<String> known) {
    this.known = List.copyOf(known);
  }

  String from(String text) {
    String clean = PRIVATE_KEY.matcher(text).replaceAll(REMOVED);
    clean = NAMED.matcher(clean).replaceAll("$1" + REMOVED);
    for (String secret : known) {
      clean = clean.replace(secret, REMOVED);
    }
    return clean;
  }
}
