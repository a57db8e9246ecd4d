package dev.ashlar.gateway.federation;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Who the bearer of a token is.
 *
 * @param audiences all clients that the token is for
 * @param client the audience it counts for: the authorized party if it names one
 * @param email empty if it names none
 * @param methods how the bearer was authenticated
 * @param tags of the sessions that begin with the token, by their keys
 */
public record WebIdentity(
    Provider provider,
    String subject,
    List<String> audiences,
    String client,
    String email,
    List<String> methods,
    Map<String, String> tags) {

  /** The values of condition keys of trust policies, which begin with the name of the provider. */
  public Map<String, List<String>> facts() {
    String prefix = provider.name().toLowerCase(Locale.ROOT) + ":";
    Map<String, List<String>> facts = new HashMap<>();
    facts.put(prefix + "sub", List.of(subject));
    facts.put(prefix + "aud", List.of(client));
    facts.put(prefix + "oaud", audiences);
    if (!email.isEmpty()) {
      facts.put(prefix + "email", List.of(email));
    }
    if (!methods.isEmpty()) {
      facts.put(prefix + "amr", methods);
    }
    return facts;
  }
}
