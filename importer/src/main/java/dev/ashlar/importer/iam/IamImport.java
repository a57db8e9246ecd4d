package dev.ashlar.importer.iam;

import dev.ashlar.importer.Journal;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Makes users, groups and policies what they are in an export. What is there already stays; running
 * it again adds what is missing.
 */
public final class IamImport {
  private static final Pattern ACCOUNT = Pattern.compile("<Arn>arn:aws:iam::(\\d{12}):");

  private final IamApi iam;
  private final KeyWriter keys;
  private final Journal journal;
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

  public void run(MinioExport export) throws InterruptedException {
    export.policies().forEach((name, document) -> policy(name, PolicyText.of(document)));
    for (Map.Entry<String, MinioExport.User> each : export.users().entrySet()) {
      MinioExport.User user = each.getValue();
      user(each.getKey(), user.secretKey(), user.isEnabled());
      attach(export, each.getKey(), each.getKey());
    }
    export.groups().forEach((name, group) -> group(export, name, group));
    for (Map.Entry<String, MinioExport.Service> each : export.services().entrySet()) {
      service(export, each.getKey(), each.getValue());
    }
  }

  private void policy(String name, PolicyText text) {
    if (text.isShortened()) {
      journal.note("policy " + name + ": actions admin: and kms: are left out");
    }
    text.document()
        .ifPresent(
            document ->
                make(
                    "policy " + name,
                    "CreatePolicy",
                    Map.of("PolicyName", name, "PolicyDocument", document)));
  }

  private void user(String name, String secretKey, boolean isEnabled) throws InterruptedException {
    if (!make("user " + name, "CreateUser", Map.of("UserName", name))) {
      return;
    }
    try {
      keys.put(name, name, secretKey, isEnabled);
    } catch (IOException e) {
      fail("access key of user " + name, e);
    }
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
    if (!make("group " + name, "CreateGroup", Map.of("GroupName", name))) {
      return;
    }
    if (group.isEnabled()) {
      for (String policy : export.groupPolicies().getOrDefault(name, List.of())) {
        attach("group " + name, "AttachGroupPolicy", "GroupName", name, policy, export);
      }
    } else {
      journal.note("group " + name + " is disabled: it gets no policies");
    }
    group.members().forEach(member -> join(name, member));
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
    if (!export.users().containsKey(service.parent())) {
      refuse(what, "its parent " + service.parent() + " is no user of the export");
    } else if (service.isRestricted()) {
      refuse(what, "it has a policy that takes rights of its parent away");
    } else if (service.isTemporary()) {
      refuse(what, "it expires");
    } else {
      boolean isEnabled = service.isEnabled() && export.users().get(service.parent()).isEnabled();
      user(name, service.secretKey(), isEnabled);
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

  /** False if that has failed. */
  private boolean make(String what, String action, Map<String, String> parameters) {
    try {
      iam.call(action, parameters);
      made++;
      return true;
    } catch (IamApi.RefusedException e) {
      if (e.isAboutExisting()) {
        return true;
      }
      fail(what, e);
    } catch (IOException e) {
      fail(what, e);
    }
    return false;
  }

  private void fail(String what, IOException e) {
    failed++;
    journal.failed(what, String.valueOf(e.getMessage()));
  }
}
