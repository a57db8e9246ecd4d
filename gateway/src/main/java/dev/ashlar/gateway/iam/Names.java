package dev.ashlar.gateway.iam;

import dev.ashlar.gateway.principal.Arns;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.gateway.query.QueryParameters;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.regex.Pattern;

/** The forms of names, paths and ids, which are those of AWS. */
final class Names {
  static final Pattern NAME = Pattern.compile("[\\w+=,.@-]+");
  private static final Pattern PATH = Pattern.compile("(/)|(/[!-\\x7E]+/)");
  private static final Pattern PATH_PREFIX = Pattern.compile("/[!-\\x7E]*");
  private static final Pattern ANY_VISIBLE = Pattern.compile("[!-\\x7E]+");
  private static final int PATH_CHARS_MAX = 512;
  private static final int ARN_CHARS_MIN = 20;
  private static final int ARN_CHARS_MAX = 2048;
  private static final String ID_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  private static final int ID_RANDOM_CHARS = 17;
  private static final int INLINE_NAME_CHARS_MAX = 128;

  private Names() {}

  static String name(QueryParameters parameters, Entity entity) throws QueryException {
    return parameters.text(entity.nameParameter(), 1, entity.nameCharsMax(), NAME);
  }

  static Optional<String> optionalName(QueryParameters parameters, Entity entity, String parameter)
      throws QueryException {
    return parameters.optionalText(parameter, 1, entity.nameCharsMax(), NAME);
  }

  /** The name of an inline policy. */
  static String inlineName(QueryParameters parameters) throws QueryException {
    return parameters.text("PolicyName", 1, INLINE_NAME_CHARS_MAX, NAME);
  }

  static String path(QueryParameters parameters) throws QueryException {
    return optionalPath(parameters, "Path").orElse("/");
  }

  static Optional<String> optionalPath(QueryParameters parameters, String parameter)
      throws QueryException {
    return parameters.optionalText(parameter, 1, PATH_CHARS_MAX, PATH);
  }

  static String pathPrefix(QueryParameters parameters) throws QueryException {
    return parameters.optionalText("PathPrefix", 1, PATH_CHARS_MAX, PATH_PREFIX).orElse("/");
  }

  static String policyArn(QueryParameters parameters) throws QueryException {
    return parameters.text("PolicyArn", ARN_CHARS_MIN, ARN_CHARS_MAX, ANY_VISIBLE);
  }

  /** The ARN of what has this path and name in an account. */
  static String arn(String account, Entity entity, String path, String name) {
    return Arns.of(account, entity.kind(), path, name);
  }

  /** A new unique id, or a new access key if that is the prefix. */
  static String newId(String prefix, int randomChars, SecureRandom random) {
    StringBuilder id = new StringBuilder(prefix);
    for (int i = 0; i < randomChars; i++) {
      id.append(ID_LETTERS.charAt(random.nextInt(ID_LETTERS.length())));
    }
    return id.toString();
  }

  static String newId(Entity entity, SecureRandom random) {
    return newId(entity.idPrefix(), ID_RANDOM_CHARS, random);
  }
}
