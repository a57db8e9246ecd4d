package dev.ashlar.server.event;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ashlar.transport.tls.Authorities;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a target. Errors name the field, never its value, which may be a secret.
 *
 * <p>Whoever reads a target asks for each field that it may have, and then requires that there was
 * no other one.
 */
final class TargetFields {
  private final JsonNode entry;
  private final Path file;
  private final Set<String> known = new HashSet<>();

  /**
   * @param file that has the entry, and to whose folder paths in it are relative
   */
  TargetFields(JsonNode entry, Path file) {
    if (!entry.isObject()) {
      throw new IllegalArgumentException("a JSON object is expected");
    }
    this.entry = entry;
    this.file = file;
  }

  @Nullable String optional(String name) {
    known.add(name);
    JsonNode value = entry.get(name);
    if (value == null) {
      return null;
    }
    if (!value.isTextual() || value.textValue().isEmpty()) {
      throw new IllegalArgumentException(name + ": a string is expected");
    }
    return value.textValue();
  }

  String optional(String name, String otherwise) {
    String value = optional(name);
    return value == null ? otherwise : value;
  }

  String required(String name) {
    String value = optional(name);
    if (value == null) {
      throw new IllegalArgumentException(name + ": is missing");
    }
    return value;
  }

  boolean flag(String name) {
    known.add(name);
    JsonNode value = entry.path(name);
    if (!value.isMissingNode() && !value.isBoolean()) {
      throw new IllegalArgumentException(name + ": true or false is expected");
    }
    return value.booleanValue();
  }

  /**
   * A URL without user and password, which have fields of their own.
   *
   * @param schemes one of which it has
   */
  URI url(String name, List<String> schemes) {
    try {
      URI url = new URI(required(name));
      boolean isOne =
          url.getScheme() != null
              && schemes.contains(url.getScheme())
              && url.getHost() != null
              && url.getUserInfo() == null
              && url.getFragment() == null;
      if (isOne) {
        return url;
      }
    } catch (URISyntaxException e) {
      // It is none.
    }
    throw new IllegalArgumentException(
        name + ": " + String.join(":// or ", schemes) + "://HOST is expected, without a password");
  }

  /** The PEM file with the certificates that are trusted; null: those of the JDK are. */
  @Nullable Path authorities() {
    String ca = optional("ca");
    return ca == null ? null : file.resolveSibling(ca);
  }

  /** TLS as a client that trusts {@link #authorities}. */
  SSLContext tls() throws IOException {
    Path ca = authorities();
    try {
      return ca == null ? SSLContext.getDefault() : Authorities.read(ca).clientContext();
    } catch (NoSuchAlgorithmException e) {
      throw new IOException("TLS is not available", e);
    }
  }

  /** Refuses fields that nobody has asked for. */
  void requireNoOthers() {
    for (var field : entry.properties()) {
      if (!known.contains(field.getKey())) {
        throw new IllegalArgumentException("unknown field \"" + field.getKey() + "\"");
      }
    }
  }
}
