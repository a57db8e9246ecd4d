package dev.ashlar.gateway.access.policy.value;

import java.util.List;

/** The facts about a request that conditions and variables of policies refer to. */
@FunctionalInterface
public interface ConditionContext {
  ConditionContext EMPTY = key -> List.of();

  /**
   * @param key in lower case, also the name of a tag in it, such as aws:requesttag/project
   * @return no value when the request does not have the key
   */
  List<String> values(String key);
}
