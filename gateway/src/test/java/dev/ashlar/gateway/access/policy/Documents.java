package dev.ashlar.gateway.access.policy;

import dev.ashlar.gateway.access.policy.document.MalformedPolicyException;
import dev.ashlar.gateway.access.policy.value.ConditionContext;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Policies, callers and requests of tests. In JSON of tests, ' stands for " and ` for '. */
public final class Documents {
  public static final String BUCKET = "bucket";
  public static final String ACCOUNT = "111111111111";
  public static final String OTHER_ACCOUNT = "222222222222";
  public static final Requester.Anonymous ANONYMOUS = new Requester.Anonymous();
  public static final Requester.Root ROOT = new Requester.Root(ACCOUNT, "canonical-1");
  public static final Requester.User ALICE = user(ACCOUNT, "canonical-1", "alice");
  public static final Requester.User BOB = user(ACCOUNT, "canonical-1", "bob");
  public static final Requester.RoleSession SESSION =
      new Requester.RoleSession(
          ACCOUNT,
          "canonical-1",
          "arn:aws:sts::" + ACCOUNT + ":assumed-role/reader/nightly",
          "arn:aws:iam::" + ACCOUNT + ":role/jobs/reader",
          "nightly");
  public static final Requester.Root OTHER_ROOT = new Requester.Root(OTHER_ACCOUNT, "canonical-2");
  public static final Requester.User OTHER_ALICE = user(OTHER_ACCOUNT, "canonical-2", "alice");
  public static final Requester.Service LOGGING = new Requester.Service("logging.s3.amazonaws.com");

  private Documents() {}

  private static Requester.User user(String account, String canonicalId, String name) {
    return new Requester.User(
        account,
        canonicalId,
        "arn:aws:iam::" + account + ":user/staff/" + name,
        "AIDA" + name.toUpperCase(Locale.ROOT),
        name);
  }

  public static String json(String text) {
    return text.replace('\'', '"').replace('`', '\'');
  }

  public static Policy parse(String text, PolicyKind kind) {
    try {
      return Policy.parse(json(text), kind);
    } catch (MalformedPolicyException e) {
      throw new AssertionError(text, e);
    }
  }

  /** A policy of the bucket with these statements and the version that has variables. */
  public static Policy bucketPolicy(String... statements) {
    return parse(document(statements), PolicyKind.bucket(BUCKET));
  }

  public static Policy identityPolicy(String... statements) {
    return parse(document(statements), PolicyKind.identity(PolicyKind.MANAGED_CHARACTERS_MAX));
  }

  public static Policy sessionPolicy(String... statements) {
    return parse(document(statements), PolicyKind.session());
  }

  public static Policy trustPolicy(String... statements) {
    return parse(document(statements), PolicyKind.trust());
  }

  public static String document(String... statements) {
    return "{'Version': '2012-10-17', 'Statement': [" + String.join(", ", statements) + "]}";
  }

  /** Keys in any case. */
  public static ConditionContext context(Map<String, List<String>> values) {
    Map<String, List<String>> ignoringCase = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    ignoringCase.putAll(values);
    return key -> ignoringCase.getOrDefault(key, List.of());
  }

  public static AccessRequest request(Requester requester, String action, String resource) {
    return new AccessRequest(requester, action, resource, ConditionContext.EMPTY);
  }

  public static AccessRequest getObject(Requester requester, String key) {
    return request(requester, "s3:GetObject", "arn:aws:s3:::" + BUCKET + "/" + key);
  }
}
