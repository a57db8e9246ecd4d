package dev.ashlar.gateway.iam;

import dev.ashlar.gateway.iam.IamCall.Subject;
import dev.ashlar.gateway.iam.IamCall.Work;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import java.util.HashMap;
import java.util.Map;

/**
 * What AWS's users and roles can have, and nobody has here: the truthful answer is that there is
 * none. Tools ask before they delete a user or a role.
 */
final class AbsentFeatures {
  private AbsentFeatures() {}

  static Map<String, Action> actions() {
    Map<String, Action> actions = new HashMap<>();
    actions.put("ListMFADevices", new Action(Action.ofUserOrCaller(), empty("MFADevices")));
    actions.put(
        "ListSigningCertificates", new Action(Action.ofUserOrCaller(), empty("Certificates")));
    actions.put("ListSSHPublicKeys", new Action(Action.ofUserOrCaller(), empty("SSHPublicKeys")));
    actions.put(
        "ListServiceSpecificCredentials",
        new Action(Action.ofUserOrCaller(), empty("ServiceSpecificCredentials")));
    actions.put(
        "ListInstanceProfilesForRole",
        new Action(Action.of(Entity.ROLE), empty("InstanceProfiles")));
    Action profile = new Action(Action.of(Entity.USER), AbsentFeatures::noLoginProfile);
    actions.put("GetLoginProfile", profile);
    actions.put("DeleteLoginProfile", profile);
    return actions;
  }

  /** An empty list of something that belongs to a user or role, who has to exist. */
  private static Work empty(String list) {
    return (call, subject) -> {
      if (!(subject instanceof Subject.Root)) {
        subject.row();
      }
      Paging.of(call.parameters());
      call.out().open(list).close().element("IsTruncated", false);
    };
  }

  private static void noLoginProfile(IamCall call, Subject subject) throws QueryException {
    throw new QueryException(
        QueryError.NO_SUCH_ENTITY,
        "Login Profile for User " + subject.row().getName() + " cannot be found.");
  }
}
