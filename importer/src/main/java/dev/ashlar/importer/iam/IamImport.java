package dev.ashlar.importer.iam;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ashlar.importer.Journal;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Makes users, groups and policies what they are in an export. What is there already stays; running
 * it again adds what is missing.
 */
public final class IamImport {
  /** On users that an import has made. */
  private static final String TAG = "imported-from";

  private static final String TAG_VALUE = "minio";
  private static final Pattern IMPORTED =
      Pattern.compile("<Key>" + TAG + "</Key>\\s*<Value>" + TAG_VALUE + "</Value>");
  private static final Pattern DOCUMENT = Pattern.compile("<Document>([^<]*)</Document>");
  private static final Pattern DEFAULT =
      Pattern.compile("<DefaultVersionId>([^<]*)</DefaultVersionId>");
  private static final JsonMapper JSON = new JsonMapper();

  private static final Pattern ACCOUNT = Pattern.compile("<Arn>arn:aws:iam::(\\d{12}):");

  private final IamApi iam;
  private final KeyWriter keys;
  private final Journal journal;

  /** Kinds and names of what is there with something else in it: nothing is attached to it. */
  private final Set<String> refused = new HashSet<>();

  /** Users that are this import's: only these join groups. */
  private final Set<String> present = new HashSet<>();

  private int made;
  private int failed;

  /** Gives a user an access key that is known, so that clients keep theirs. */
  @FunctionalInterface
  public interface KeyWriter {
    /**
     * @throws IOException if it is refused; the message says why
     */
    void put(String user, String accessKey, String secretKey, boolean isEnabled)
        throws IOException, InterruptedException;
  }

  public IamImport(IamApi iam, KeyWriter keys, Journal journal) {
    this.iam = iam;
    this.keys = keys;
    this.journal = journal;
  }

  /** Users, groups and policies that were made. */
  public int made() {
    return made;
  }

  /** What could not be made. */
  public int failed() {
    return failed;
  }

  public void run(MinioExport all) throws InterruptedException {
    MinioExport export = withoutTwins(all);
    export.policies().forEach((name, document) -> policy(name, PolicyText.of(document)));
    for (Map.Entry<String, MinioExport.User> each : export.users().entrySet()) {
      MinioExport.User user = each.getValue();
      if (user(each.getKey(), user.secretKey(), user.isEnabled())) {
        attach(export, each.getKey(), each.getKey());
        present.add(each.getKey());
      }
    }
    export.groups().forEach((name, group) -> group(export, name, group));
    for (Map.Entry<String, MinioExport.Service> each : export.services().entrySet()) {
      service(export, each.getKey(), each.getValue());
    }
  }

  /** Ashlar's names are the same in capitals and in small letters. */
  private MinioExport withoutTwins(MinioExport all) {
    Set<String> keys = new TreeSet<>(all.users().keySet());
    keys.addAll(all.services().keySet());
    Set<String> keyTwins = twins("user", keys);
    Set<String> groupTwins = twins("group", all.groups().keySet());
    Set<String> policyTwins = twins("policy", all.policies().keySet());
    return new MinioExport(
        without(all.policies(), policyTwins),
        without(all.users(), keyTwins),
        without(all.services(), keyTwins),
        without(all.groups(), groupTwins),
        all.userPolicies(),
        all.groupPolicies());
  }

  private Set<String> twins(String kind, Set<String> names) {
    Map<String, List<String>> alike =
        names.stream().collect(Collectors.groupingBy(each -> each.toLowerCase(Locale.ROOT)));
    Set<String> twins = new TreeSet<>();
    alike.values().stream().filter(each -> each.size() > 1).forEach(twins::addAll);
    for (String name : twins) {
      refused.add(kind + " " + name);
      refuse(kind + " " + name, "another name differs from it only in capitals");
    }
    return twins;
  }

  private static <T> Map<String, T> without(Map<String, T> all, Set<String> names) {
    Map<String, T> rest = new TreeMap<>(all);
    rest.keySet().removeAll(names);
    return rest;
  }

  private void policy(String name, PolicyText text) {
    if (text.isShortened()) {
      journal.note("policy " + name + ": actions admin: and kms: are left out");
    }
    text.document().ifPresent(document -> policy(name, document));
  }

  private void policy(String name, String document) {
    String what = "policy " + name;
    try {
      if (!make("CreatePolicy", Map.of("PolicyName", name, "PolicyDocument", document))
          && !JSON.readTree(document).equals(JSON.readTree(presentPolicy(name)))) {
        refused.add(what);
        refuse(what, "there is one with another document");
      }
    } catch (IOException e) {
      refused.add(what);
      fail(what, e);
    }
  }

  private String presentPolicy(String name) throws IOException {
    Map<String, String> policy = Map.of("PolicyArn", arn(name));
    String version = found(DEFAULT, iam.call("GetPolicy", policy));
    String answer =
        iam.call("GetPolicyVersion", Map.of("PolicyArn", arn(name), "VersionId", version));
    return URLDecoder.decode(found(DOCUMENT, answer).replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  private static String found(Pattern pattern, String answer) throws IOException {
    Matcher matcher = pattern.matcher(answer);
    if (!matcher.find()) {
      throw new IOException("an answer lacks what it should have: " + pattern);
    }
    return Objects.requireNonNull(matcher.group(1));
  }

  /** False if the user is somebody's own: whoever has the export's key must not become them. */
  private boolean makeUser(String name) throws IOException {
    Map<String, String> user =
        Map.of("UserName", name, "Tags.member.1.Key", TAG, "Tags.member.1.Value", TAG_VALUE);
    boolean isOurs =
        make("CreateUser", user)
            || IMPORTED.matcher(iam.call("GetUser", Map.of("UserName", name))).find();
    if (!isOurs) {
      refuse("user " + name, "it exists and is not from an import");
    }
    return isOurs;
  }

  /** Whether the user is there, and is from an import. */
  private boolean user(String name, String secretKey, boolean isEnabled)
      throws InterruptedException {
    try {
      if (!makeUser(name)) {
        return false;
      }
    } catch (IOException e) {
      fail("user " + name, e);
      return false;
    }
    try {
      keys.put(name, name, secretKey, isEnabled);
    } catch (IOException e) {
      fail("access key of user " + name, e);
    }
    return true;
  }

  /** Gives a user the policies that another one has in the export. */
  private void attach(MinioExport export, String user, String as) {
    for (String policy : export.userPolicies().getOrDefault(as, List.of())) {
      attach("user " + user, "AttachUserPolicy", "UserName", user, policy, export);
    }
  }

  private void attach(
      String what,
      String action,
      String parameter,
      String name,
      String policy,
      MinioExport export) {
    if (refused.contains("policy " + policy)) {
      refuse(what, "policy " + policy + " is not that of the export");
      return;
    }
    boolean isEmpty =
        export.policies().containsKey(policy)
            && PolicyText.of(export.policies().get(policy)).document().isEmpty();
    if (!isEmpty) {
      try {
        iam.call(action, Map.of(parameter, name, "PolicyArn", arn(policy)));
      } catch (IOException e) {
        fail(what + ", policy " + policy, e);
      }
    }
  }

  private String arn(String policy) throws IOException {
    Matcher account = ACCOUNT.matcher(iam.call("GetUser", Map.of()));
    if (!account.find()) {
      throw new IOException("GetUser does not tell the account");
    }
    return "arn:aws:iam::" + account.group(1) + ":policy/" + policy;
  }

  private void group(MinioExport export, String name, MinioExport.Group group) {
    try {
      make("CreateGroup", Map.of("GroupName", name));
    } catch (IOException e) {
      fail("group " + name, e);
      return;
    }
    if (group.isEnabled()) {
      for (String policy : export.groupPolicies().getOrDefault(name, List.of())) {
        attach("group " + name, "AttachGroupPolicy", "GroupName", name, policy, export);
      }
    } else {
      journal.note("group " + name + " is disabled: it gets no policies");
    }
    for (String member : group.members()) {
      if (present.contains(member)) {
        join(name, member);
      } else {
        refuse("group " + name + ", member " + member, "it is no user that was imported");
      }
    }
  }

  private void join(String group, String user) {
    try {
      iam.call("AddUserToGroup", Map.of("GroupName", group, "UserName", user));
    } catch (IOException e) {
      fail("group " + group + ", member " + user, e);
    }
  }

  /** A service account becomes a user with the rights of its parent. */
  private void service(MinioExport export, String name, MinioExport.Service service)
      throws InterruptedException {
    String what = "service account " + name;
    MinioExport.User parent = export.users().get(service.parent());
    if (parent == null || !present.contains(service.parent())) {
      refuse(what, "its parent " + service.parent() + " is no user that was imported");
    } else if (service.isRestricted()) {
      refuse(what, "it has a policy that takes rights of its parent away");
    } else if (service.isTemporary()) {
      refuse(what, "it expires");
    } else {
      boolean isEnabled = service.isEnabled() && parent.isEnabled();
      if (!user(name, service.secretKey(), isEnabled)) {
        return;
      }
      attach(export, name, service.parent());
      export
          .groups()
          .forEach(
              (group, content) -> {
                if (content.members().contains(service.parent())) {
                  join(group, name);
                }
              });
    }
  }

  private void refuse(String what, String why) {
    failed++;
    journal.failed(what, why + ": make it by hand");
  }

  /** False if there is one already. */
  private boolean make(String action, Map<String, String> parameters) throws IOException {
    try {
      iam.call(action, parameters);
      made++;
      return true;
    } catch (IamApi.RefusedException e) {
      if (e.isAboutExisting()) {
        return false;
      }
      throw e;
    }
  }

  private void fail(String what, IOException e) {
    failed++;
    journal.failed(what, String.valueOf(e.getMessage()));
  }
}
