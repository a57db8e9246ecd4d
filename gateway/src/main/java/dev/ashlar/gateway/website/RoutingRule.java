package dev.ashlar.gateway.website;

/**
 * A rule of a website.
 *
 * @param prefix of the keys that it is about; empty: all
 * @param errorStatus that it is about; 0: it applies before an object is looked for
 */
public record RoutingRule(String prefix, int errorStatus, Redirect redirect) {
  /**
   * Whether it applies.
   *
   * @param status of the error; 0: there is none yet
   */
  boolean appliesTo(String key, int status) {
    return errorStatus == status && key.startsWith(prefix);
  }
}
