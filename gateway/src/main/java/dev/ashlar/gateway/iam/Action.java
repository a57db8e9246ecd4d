package dev.ashlar.gateway.iam;

import dev.ashlar.gateway.iam.IamCall.Subject;
import dev.ashlar.gateway.iam.IamCall.Work;
import dev.ashlar.gateway.principal.Arns;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.gateway.query.QueryParameters.Member;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * An action of IAM.
 *
 * @param target finds what it is about, which the caller needs the right to
 */
record Action(Target target, Work work) {
  private static final Pattern ATTACHING =
      Pattern.compile("(?:Attach|Detach)(?:User|Group|Role)Policy");
  private static final Pattern TAGGING =
      Pattern.compile("(?:Create|Tag)(?:User|Role|Policy|OpenIDConnectProvider)");

  /** What an action is about, and every resource that the caller needs the right to. */
  record Targeted(Subject subject, List<String> resources) {
    static Targeted of(Subject subject, String... resources) {
      return new Targeted(subject, List.of(resources));
    }
  }

  /** Finds what an action is about. */
  @FunctionalInterface
  interface Target {
    Targeted find(IamCall call) throws QueryException, MetadataUnavailableException;
  }

  /** Checks the caller's right, then does the action. */
  void run(IamCall call) throws QueryException, MetadataUnavailableException {
    Targeted targeted = target.find(call);
    Map<String, List<String>> facts = facts(call, targeted.subject());
    for (String resource : targeted.resources()) {
      call.query().require(resource, facts);
    }
    work.run(call, targeted.subject());
  }

  /** What conditions see. A parameter that the action does not heed has no value. */
  private static Map<String, List<String>> facts(IamCall call, Subject subject)
      throws QueryException {
    Map<String, List<String>> facts = new HashMap<>();
    if (ATTACHING.matcher(call.query().action()).matches()) {
      call.parameters()
          .optional("PolicyArn")
          .ifPresent(arn -> facts.put("iam:policyarn", List.of(arn)));
    }
    List<String> keys = new ArrayList<>();
    if (call.query().action().startsWith("Untag")) {
      keys.addAll(call.parameters().list("TagKeys"));
    }
    for (Member tag : tags(call)) {
      String key = tag.required("Key");
      keys.add(key);
      facts.put(
          "aws:requesttag/" + key.toLowerCase(Locale.ROOT),
          List.of(tag.optional("Value").orElse("")));
    }
    if (!keys.isEmpty()) {
      facts.put("aws:tagkeys", keys);
    }
    if (subject instanceof Subject.Present present) {
      facts.putAll(Tags.resourceFacts(present.row()));
    }
    return facts;
  }

  private static List<Member> tags(IamCall call) {
    return TAGGING.matcher(call.query().action()).matches()
        ? call.parameters().structures("Tags", "Key")
        : List.of();
  }

  /** The account as a whole. */
  static Target ofAccount() {
    return call -> Targeted.of(new Subject.Named("*"), "*");
  }

  /** All of a kind below a path. */
  static Target ofAll(Entity entity) {
    return call -> {
      String path = Names.pathPrefix(call.parameters());
      String arn = Names.arn(call.account(), entity, path, "");
      return Targeted.of(new Subject.Named(arn), arn);
    };
  }

  /** An identity that the action creates. */
  static Target ofNew(Entity entity) {
    return call -> {
      String name = Names.name(call.parameters(), entity);
      String arn = Names.arn(call.account(), entity, Names.path(call.parameters()), name);
      return Targeted.of(new Subject.Named(arn), arn);
    };
  }

  /** A user, group or role by its name. */
  static Target of(Entity entity) {
    return call -> named(call, entity, Names.name(call.parameters(), entity));
  }

  private static Targeted named(IamCall call, Entity entity, String name)
      throws MetadataUnavailableException {
    return call.directory()
        .find(entity, name)
        .map(row -> Targeted.of(new Subject.Present(row), Arns.of(row)))
        .orElseGet(
            () ->
                Targeted.of(
                    new Subject.Absent(
                        "The " + entity.noun() + " with name " + name + " cannot be found."),
                    Names.arn(call.account(), entity, "/", name)));
  }

  /** A user or group before and after it gets another name or path: both are needed. */
  static Target ofRenamed(Entity entity) {
    return call -> {
      Targeted before = of(entity).find(call);
      if (!(before.subject() instanceof Subject.Present present)) {
        return before;
      }
      String path =
          Names.optionalPath(call.parameters(), "NewPath").orElse(present.row().getPath());
      String name =
          Names.optionalName(call.parameters(), entity, "New" + entity.nameParameter())
              .orElse(present.row().getName());
      return Targeted.of(
          before.subject(), Arns.of(present.row()), Names.arn(call.account(), entity, path, name));
    };
  }

  /** The named user; without a name the caller itself. */
  static Target ofUserOrCaller() {
    return call -> {
      if (call.parameters().optional("UserName").isPresent()) {
        return of(Entity.USER).find(call);
      }
      if (call.caller().isRoot()) {
        return Targeted.of(new Subject.Root(), Arns.ofRoot(call.account()));
      }
      if (call.caller().identity() == null
          || call.caller().identity().getKind() != Entity.USER.kind()) {
        throw new QueryException(
            QueryError.VALIDATION_ERROR,
            "Must specify userName when calling with non-User credentials");
      }
      return named(call, Entity.USER, call.caller().identity().getName());
    };
  }

  /** A managed policy by its ARN: one of the account, or a built-in one. */
  static Target ofPolicy() {
    return call -> {
      String arn = Names.policyArn(call.parameters());
      Subject subject = Policies.find(call, arn);
      return Targeted.of(subject, arn);
    };
  }
}
