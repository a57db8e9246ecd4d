package dev.ashlar.metadata.state.identity;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.RefusedCommandException;
import dev.ashlar.protocol.message.IdentityDocument;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.IdentityTag;
import dev.ashlar.protocol.message.ResultCode;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The rules for an identity's row by itself. A gateway has checked them before and explains faults
 * better, so a row that is wrong in its form is INVALID_COMMAND. LIMIT_EXCEEDED is a number or size
 * beyond a limit.
 */
final class IdentityRules {
  private static final int ID_CHARS_MAX = 128;
  private static final int PATH_CHARS_MAX = 512;
  private static final int TAGS_MAX = 50;
  private static final int TAG_KEY_CHARS_MAX = 128;
  private static final int TAG_VALUE_CHARS_MAX = 256;
  private static final int DESCRIPTION_CHARS_MAX = 1000;
  private static final int TRUST_POLICY_CHARS_MAX = 2048;
  private static final int SESSION_SECONDS_MIN = 3600;
  private static final int SESSION_SECONDS_MAX = 12 * 3600;
  private static final int ATTACHED_MAX = 10;
  private static final int BUILT_IN_NAME_CHARS_MAX = 256;
  private static final int GROUPS_PER_USER_MAX = 10;
  private static final int POLICY_VERSIONS_MAX = 5;
  private static final int INLINE_POLICIES_MAX = 256;
  private static final int DOCUMENT_NAME_CHARS_MAX = 128;
  private static final int CLIENT_IDS_MAX = 100;
  private static final int CLIENT_ID_CHARS_MAX = 255;
  private static final int THUMBPRINTS_MAX = 5;
  private static final int THUMBPRINT_CHARS = 40;

  /** White space does not count towards a limit, but up to this multiple of the limit is stored. */
  private static final int STORED_PER_COUNTED = 4;

  private IdentityRules() {}

  /** Refuses the command if the row breaks a rule. */
  static KindRules check(IdentityRow row) {
    KindRules kind =
        KindRules.of(row.getKind())
            .orElseThrow(() -> new RefusedCommandException(ResultCode.INVALID_COMMAND));
    checkNames(kind, row);
    checkTags(row.getTagsList());
    checkDocuments(kind, row);
    checkReferences(kind, row);
    boolean isDescribed = kind == KindRules.ROLE || kind == KindRules.POLICY;
    valid(row.getDescription().length() <= (isDescribed ? DESCRIPTION_CHARS_MAX : 0));
    checkRole(kind, row);
    checkProvider(kind, row);
    return kind;
  }

  private static void valid(boolean condition) {
    require(condition, ResultCode.INVALID_COMMAND);
  }

  private static void withinLimit(boolean condition) {
    require(condition, ResultCode.LIMIT_EXCEEDED);
  }

  private static void checkNames(KindRules kind, IdentityRow row) {
    valid(
        AsciiText.hasLength(row.getId(), 1, ID_CHARS_MAX)
            && row.getId().chars().allMatch(AsciiText::isLetterOrDigit));
    String name = row.getName();
    valid(AsciiText.hasLength(name, 1, kind.nameCharsMax()));
    String path = row.getPath();
    valid(AsciiText.hasLength(path, 1, PATH_CHARS_MAX));
    valid(path.startsWith("/") && path.endsWith("/"));
    valid(path.chars().allMatch(AsciiText::isVisible));
    if (kind == KindRules.PROVIDER) {
      valid(name.chars().allMatch(AsciiText::isVisible) && path.equals("/"));
    } else {
      valid(name.chars().allMatch(c -> AsciiText.isLetterOrDigit(c) || "_+=,.@-".indexOf(c) >= 0));
    }
  }

  private static void checkTags(List<IdentityTag> tags) {
    withinLimit(tags.size() <= TAGS_MAX);
    Set<String> keys = new HashSet<>();
    for (IdentityTag tag : tags) {
      valid(AsciiText.hasLength(tag.getKey(), 1, TAG_KEY_CHARS_MAX) && keys.add(tag.getKey()));
      valid(tag.getValue().length() <= TAG_VALUE_CHARS_MAX);
    }
  }

  // ---- Documents ----

  private static void checkDocuments(KindRules kind, IdentityRow row) {
    boolean isPolicy = kind == KindRules.POLICY;
    withinLimit(row.getDocumentsCount() <= (isPolicy ? POLICY_VERSIONS_MAX : INLINE_POLICIES_MAX));
    Set<String> names = new HashSet<>();
    int counted = 0;
    int stored = 0;
    for (IdentityDocument document : row.getDocumentsList()) {
      String text = document.getText();
      valid(!text.isEmpty() && isText(document.getName(), DOCUMENT_NAME_CHARS_MAX));
      valid(names.add(document.getName()));
      counted = isPolicy ? countedChars(text) : counted + countedChars(text);
      stored = isPolicy ? text.length() : stored + text.length();
      withinLimit(counted <= kind.documentCharsMax());
      withinLimit(stored <= kind.documentCharsMax() * STORED_PER_COUNTED);
    }
    if (isPolicy) {
      valid(names.contains(row.getDefaultVersion()));
      valid(names.stream().allMatch(name -> isVersion(name, row.getVersionsMade())));
    } else {
      valid(row.getDefaultVersion().isEmpty() && row.getVersionsMade() == 0);
    }
  }

  /** As IAM counts: without white space. */
  private static int countedChars(String text) {
    return (int) text.codePoints().filter(c -> " \t\r\n".indexOf(c) < 0).count();
  }

  /** Whether it is v and a number from 1 to the latest. */
  private static boolean isVersion(String name, int latest) {
    if (!AsciiText.hasLength(name, 2, 10) || name.charAt(0) != 'v' || name.charAt(1) == '0') {
      return false;
    }
    String digits = name.substring(1);
    return digits.chars().allMatch(AsciiText::isDigit) && Integer.parseInt(digits) <= latest;
  }

  // ---- References ----

  private static void checkReferences(KindRules kind, IdentityRow row) {
    List<String> attached = row.getAttachedPoliciesList();
    List<String> builtIn = row.getBuiltInPoliciesList();
    valid(kind.takesPolicies() || (attached.isEmpty() && builtIn.isEmpty()));
    withinLimit(attached.size() + builtIn.size() <= ATTACHED_MAX);
    valid(areDifferent(attached) && areDifferent(builtIn));
    valid(builtIn.stream().allMatch(name -> isText(name, BUILT_IN_NAME_CHARS_MAX)));
    List<String> groups = row.getGroupsList();
    valid(kind == KindRules.USER || groups.isEmpty());
    withinLimit(groups.size() <= GROUPS_PER_USER_MAX);
    valid(areDifferent(groups));
  }

  private static boolean areDifferent(List<String> values) {
    return new HashSet<>(values).size() == values.size();
  }

  private static boolean isText(String text, int charsMax) {
    return AsciiText.hasLength(text, 1, charsMax) && text.chars().allMatch(AsciiText::isVisible);
  }

  private static void checkRole(KindRules kind, IdentityRow row) {
    String trust = row.getTrustPolicy();
    if (kind != KindRules.ROLE) {
      valid(trust.isEmpty() && row.getMaxSessionSeconds() == 0);
      return;
    }
    valid(!trust.isEmpty());
    withinLimit(countedChars(trust) <= TRUST_POLICY_CHARS_MAX);
    withinLimit(trust.length() <= TRUST_POLICY_CHARS_MAX * STORED_PER_COUNTED);
    valid(
        row.getMaxSessionSeconds() >= SESSION_SECONDS_MIN
            && row.getMaxSessionSeconds() <= SESSION_SECONDS_MAX);
  }

  private static void checkProvider(KindRules kind, IdentityRow row) {
    List<String> clients = row.getClientIdsList();
    List<String> thumbprints = row.getThumbprintsList();
    valid(kind == KindRules.PROVIDER || (clients.isEmpty() && thumbprints.isEmpty()));
    withinLimit(clients.size() <= CLIENT_IDS_MAX && thumbprints.size() <= THUMBPRINTS_MAX);
    valid(areDifferent(clients) && areDifferent(thumbprints));
    valid(clients.stream().allMatch(client -> isText(client, CLIENT_ID_CHARS_MAX)));
    valid(thumbprints.stream().allMatch(IdentityRules::isThumbprint));
  }

  private static boolean isThumbprint(String text) {
    return text.length() == THUMBPRINT_CHARS
        && text.chars().allMatch(c -> AsciiText.isDigit(c) || (c >= 'a' && c <= 'f'));
  }
}
