package dev.ashlar.gateway.iam;

import dev.ashlar.gateway.iam.IamCall.Subject;
import dev.ashlar.gateway.principal.Arns;
import dev.ashlar.gateway.principal.BuiltInPolicies;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.protocol.client.IdentityPage;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.IdentityKind;
import dev.ashlar.protocol.message.IdentityListQuery;
import dev.ashlar.protocol.message.IdentityRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** Which managed policies count for which users, groups and roles. */
final class Attachments {
  private static final int ATTACHED_MAX = 10;
  private static final List<Entity> HOLDERS = List.of(Entity.GROUP, Entity.ROLE, Entity.USER);
  private static final Pattern FILTER =
      Pattern.compile("User|Role|Group|LocalManagedPolicy|AWSManagedPolicy");

  private Attachments() {}

  static Map<String, Action> actions() {
    Map<String, Action> all = new HashMap<>();
    for (Entity entity : HOLDERS) {
      String title = entity.title();
      Action.Target target = Action.of(entity);
      all.put("Attach" + title + "Policy", new Action(target, Attachments::attach));
      all.put("Detach" + title + "Policy", new Action(target, Attachments::detach));
      all.put("ListAttached" + title + "Policies", new Action(target, Attachments::list));
    }
    all.put("ListEntitiesForPolicy", new Action(Action.ofPolicy(), Attachments::holders));
    return all;
  }

  /** The list of a row in which a policy is, and its name there. */
  private record Reference(boolean isBuiltIn, String value) {
    /**
     * @throws QueryException NoSuchEntity
     */
    static Reference of(IamCall call) throws QueryException, MetadataUnavailableException {
      String arn = Names.policyArn(call.parameters());
      Optional<BuiltInPolicies.BuiltIn> builtIn = BuiltInPolicies.withArn(arn);
      return builtIn.isPresent()
          ? new Reference(true, builtIn.get().name())
          : new Reference(false, Policies.find(call, arn).row().getId());
    }

    List<String> listOf(IdentityRow.Builder row) {
      return isBuiltIn ? row.getBuiltInPoliciesList() : row.getAttachedPoliciesList();
    }

    void setList(IdentityRow.Builder row, List<String> values) {
      if (isBuiltIn) {
        row.clearBuiltInPolicies().addAllBuiltInPolicies(values);
      } else {
        row.clearAttachedPolicies().addAllAttachedPolicies(values);
      }
    }
  }

  private static void attach(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    IdentityRow holder = subject.row();
    Reference policy = Reference.of(call);
    call.directory()
        .change(
            holder,
            row -> {
              List<String> values = new ArrayList<>(policy.listOf(row));
              if (values.contains(policy.value())) {
                return;
              }
              if (row.getAttachedPoliciesCount() + row.getBuiltInPoliciesCount() >= ATTACHED_MAX) {
                throw new QueryException(
                    QueryError.LIMIT_EXCEEDED,
                    "Cannot exceed quota for attached policies: " + ATTACHED_MAX);
              }
              values.add(policy.value());
              policy.setList(row, values);
            });
  }

  private static void detach(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    IdentityRow holder = subject.row();
    Reference policy = Reference.of(call);
    call.directory()
        .change(
            holder,
            row -> {
              List<String> values = new ArrayList<>(policy.listOf(row));
              if (!values.remove(policy.value())) {
                throw new QueryException(
                    QueryError.NO_SUCH_ENTITY,
                    "Policy "
                        + call.parameters().optional("PolicyArn").orElse("")
                        + " was not found among those attached.");
              }
              policy.setList(row, values);
            });
  }

  private static void list(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    IdentityRow holder = subject.row();
    String prefix = Names.pathPrefix(call.parameters());
    List<String> arns = new ArrayList<>();
    for (String name : holder.getBuiltInPoliciesList()) {
      BuiltInPolicies.named(name).ifPresent(policy -> arns.add(policy.arn()));
    }
    for (IdentityRow policy : call.directory().withIds(holder.getAttachedPoliciesList())) {
      if (policy.getPath().startsWith(prefix)) {
        arns.add(Arns.of(policy));
      }
    }
    Paging.of(call.parameters())
        .write(
            call.out(),
            "AttachedPolicies",
            arns,
            arn -> arn,
            (out, arn) ->
                out.open("member")
                    .element("PolicyName", arn.substring(arn.lastIndexOf('/') + 1))
                    .element("PolicyArn", arn)
                    .close());
  }

  // ---- What a policy is attached to ----

  private static void holders(IamCall call, Subject subject)
      throws QueryException, MetadataUnavailableException {
    Paging paging = Paging.of(call.parameters());
    Optional<String> filter = call.parameters().optionalText("EntityFilter", 1, 32, FILTER);
    List<IdentityRow> found = new ArrayList<>();
    Optional<IdentityRow> last = Optional.empty();
    boolean isTruncated;
    if (subject instanceof Subject.Named named) {
      IdentityPage page = builtInHolders(call, paging, named.arn(), found);
      last = Users.last(page);
      isTruncated = page.truncated();
    } else {
      IdentityListQuery.Builder query =
          IdentityListQuery.newBuilder()
              .setKind(IdentityKind.IDENTITY_NONE)
              .setAttachedTo(subject.row().getId())
              .setMax(paging.max());
      paging.after().ifPresent(query::setAfter);
      IdentityPage page = call.directory().list(query);
      found.addAll(page.identities());
      last = Users.last(page);
      isTruncated = page.truncated();
    }
    for (Entity entity : HOLDERS) {
      call.out().open("Policy" + entity.title() + "s");
      for (IdentityRow row : found) {
        boolean isWanted = filter.map(entity.title()::equals).orElse(true);
        if (row.getKind() == entity.kind() && isWanted) {
          call.out()
              .open("member")
              .element(entity.nameParameter(), row.getName())
              .element(entity.title() + "Id", row.getId())
              .close();
        }
      }
      call.out().close();
    }
    Paging.end(call.out(), last, isTruncated);
  }

  /**
   * There is no index of what built-in policies are attached to, so this looks at a page of all
   * groups, roles and users. Pages can be shorter than asked for, or empty.
   *
   * @return the page that was looked at
   */
  private static IdentityPage builtInHolders(
      IamCall call, Paging paging, String arn, List<IdentityRow> found)
      throws MetadataUnavailableException {
    String name = arn.substring(arn.lastIndexOf('/') + 1);
    List<IdentityRow> seen = new ArrayList<>();
    int first = paging.after().map(row -> HOLDERS.indexOf(Entity.of(row.getKind()))).orElse(0);
    for (int i = first; i < HOLDERS.size(); i++) {
      IdentityListQuery.Builder query =
          IdentityListQuery.newBuilder()
              .setKind(HOLDERS.get(i).kind())
              .setPathPrefix("/")
              .setMax(paging.max() - seen.size());
      if (i == first) {
        paging.after().ifPresent(query::setAfter);
      }
      IdentityPage page = call.directory().list(query);
      page.identities().stream()
          .filter(row -> row.getBuiltInPoliciesList().contains(name))
          .forEach(found::add);
      seen.addAll(page.identities());
      if (page.truncated() || seen.size() >= paging.max()) {
        return new IdentityPage(seen, page.truncated() || i + 1 < HOLDERS.size());
      }
    }
    return new IdentityPage(seen, false);
  }
}
