package dev.ashlar.gateway.federation;

import com.nimbusds.jwt.JWTClaimsSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The session tags of a token, in either of AWS's two forms: one claim with an object, or a claim
 * for each tag. Some providers put the object into a list of one.
 */
final class TokenTags {
  private static final String CLAIM = "https://aws.amazon.com/tags";
  private static final String PRINCIPAL = "principal_tags";
  private static final String TRANSITIVE = "transitive_tag_keys";

  private final Map<String, String> tags = new LinkedHashMap<>();

  private TokenTags() {}

  /**
   * @return values by keys; empty if the token has no tags
   */
  static Map<String, String> of(JWTClaimsSet claims) throws InvalidTokenException {
    TokenTags tags = new TokenTags();
    for (Map.Entry<String, Object> claim : claims.getClaims().entrySet()) {
      if (claim.getKey().equals(CLAIM)) {
        tags.addNested(claim.getValue());
      } else if (claim.getKey().startsWith(CLAIM + "/")) {
        tags.addFlat(claim.getKey().substring(CLAIM.length() + 1), claim.getValue());
      }
    }
    return tags.tags;
  }

  private void addNested(@Nullable Object value) throws InvalidTokenException {
    for (Map.Entry<?, ?> member : object(single(value)).entrySet()) {
      if (PRINCIPAL.equals(member.getKey())) {
        for (Map.Entry<?, ?> tag : object(member.getValue()).entrySet()) {
          add(String.valueOf(tag.getKey()), tag.getValue());
        }
      } else if (TRANSITIVE.equals(member.getKey())) {
        refuseTransitive(member.getValue());
      }
    }
  }

  private void addFlat(String name, @Nullable Object value) throws InvalidTokenException {
    if (name.startsWith(PRINCIPAL + "/")) {
      add(name.substring(PRINCIPAL.length() + 1), value);
    } else if (name.equals(TRANSITIVE)) {
      refuseTransitive(value);
    }
  }

  private void add(String key, @Nullable Object value) throws InvalidTokenException {
    if (!(single(value) instanceof String text) || tags.put(key, text) != null) {
      throw InvalidTokenException.invalid("A session tag of the token is not one string.");
    }
  }

  private static void refuseTransitive(@Nullable Object keys) throws InvalidTokenException {
    if (keys != null && !keys.equals(List.of())) {
      throw InvalidTokenException.invalid("Transitive session tags are not supported.");
    }
  }

  /** What a list of one contains; everything else as it is. */
  private static @Nullable Object single(@Nullable Object value) {
    return value instanceof List<?> list && list.size() == 1 ? list.getFirst() : value;
  }

  private static Map<?, ?> object(@Nullable Object value) throws InvalidTokenException {
    if (value instanceof Map<?, ?> map) {
      return map;
    }
    throw InvalidTokenException.invalid("The session tags of the token are malformed.");
  }
}
