package dev.ashlar.gateway.federation;

import java.util.List;

/**
 * An OpenID Connect provider that an account trusts.
 *
 * @param name its URL without {@code https://}
 * @param clientIds the audiences that its tokens may be for
 * @param thumbprints SHA-1 of certificates that its TLS connections may be signed with, besides the
 *     authorities that Java trusts; 40 hexadecimal digits in lower case
 */
public record Provider(String name, List<String> clientIds, List<String> thumbprints) {
  private static final String SCHEME = "https://";

  public Provider {
    clientIds = List.copyOf(clientIds);
    thumbprints = List.copyOf(thumbprints);
  }

  /** What its tokens name as their issuer. */
  public String issuer() {
    return SCHEME + name;
  }
}
