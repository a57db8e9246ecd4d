package dev.ashlar.gateway.iam;

import dev.ashlar.gateway.iam.IamCall.Subject;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.AccountStateRow;
import java.util.Map;
import java.util.regex.Pattern;

/** The account as a whole: its numbers and its alias. */
final class AccountActions {
  private static final Pattern ALIAS = Pattern.compile("[a-z0-9](([a-z0-9]|-(?!-))*[a-z0-9])?");
  private static final int ALIAS_CHARS_MIN = 3;
  private static final int ALIAS_CHARS_MAX = 63;

  private AccountActions() {}

  static Map<String, Action> actions() {
    return Map.of(
        "GetAccountSummary", new Action(Action.ofAccount(), AccountActions::summary),
        "CreateAccountAlias", new Action(Action.ofAccount(), AccountActions::setAlias),
        "DeleteAccountAlias", new Action(Action.ofAccount(), AccountActions::removeAlias),
        "ListAccountAliases", new Action(Action.ofAccount(), AccountActions::listAliases));
  }

  private static void summary(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    AccountStateRow state = call.directory().accountValue().getState();
    XmlWriter out = call.out().open("SummaryMap");
    entry(out, "Users", state.getUsers());
    entry(out, "UsersQuota", 5000);
    entry(out, "Groups", state.getGroups());
    entry(out, "GroupsQuota", 300);
    entry(out, "Roles", state.getRoles());
    entry(out, "RolesQuota", 1000);
    entry(out, "Policies", state.getPolicies());
    entry(out, "PoliciesQuota", 1500);
    entry(out, "Providers", state.getProviders());
    entry(out, "AccessKeysPerUserQuota", 2);
    entry(out, "GroupsPerUserQuota", 10);
    entry(out, "AttachedPoliciesPerUserQuota", 10);
    entry(out, "AttachedPoliciesPerGroupQuota", 10);
    entry(out, "AttachedPoliciesPerRoleQuota", 10);
    entry(out, "UserPolicySizeQuota", Entity.USER.policyCharsMax());
    entry(out, "GroupPolicySizeQuota", Entity.GROUP.policyCharsMax());
    entry(out, "RolePolicySizeQuota", Entity.ROLE.policyCharsMax());
    entry(out, "PolicySizeQuota", Entity.POLICY.policyCharsMax());
    entry(out, "VersionsPerPolicyQuota", 5);
    entry(out, "AccountAccessKeysPresent", call.directory().accessKeys("").isEmpty() ? 0 : 1);
    entry(out, "AccountMFAEnabled", 0);
    out.close();
  }

  private static void entry(XmlWriter out, String key, int value) {
    out.open("entry").element("key", key).element("value", value).close();
  }

  private static void setAlias(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    String alias = call.parameters().text("AccountAlias", ALIAS_CHARS_MIN, ALIAS_CHARS_MAX, ALIAS);
    call.directory().setAlias(call.directory().accountValue().getAccount(), alias);
  }

  private static void removeAlias(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    String alias = call.parameters().text("AccountAlias", ALIAS_CHARS_MIN, ALIAS_CHARS_MAX, ALIAS);
    AccountRow account = call.directory().accountValue().getAccount();
    if (!account.getAlias().equals(alias)) {
      throw new QueryException(
          QueryError.NO_SUCH_ENTITY, "The account alias " + alias + " cannot be found.");
    }
    call.directory().setAlias(account, "");
  }

  private static void listAliases(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    String alias = call.directory().accountValue().getAccount().getAlias();
    call.out().open("AccountAliases");
    if (!alias.isEmpty()) {
      call.out().element("member", alias);
    }
    call.out().close().element("IsTruncated", false);
  }
}
