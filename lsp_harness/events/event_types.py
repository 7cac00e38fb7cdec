"""All events of a session. Importing this module registers every class.

A time, a turn and a number are not part of an event: the log adds these in the envelope (`wire.event`).
"""

from lsp_harness.events import code_events, model_events, plan_events, session_events, tool_events
from lsp_harness.events.event_type import EVENT_CLASSES, UnknownEvent, event_type, type_of

CodeEvent = (
    code_events.StateEntered
    | code_events.StateExited
    | code_events.OutputRead
    | code_events.ContextBuilt
    | code_events.CandidateGenerated
    | code_events.CandidateRejected
    | code_events.CandidateSelected
    | code_events.ChecksStarted
    | code_events.CheckCompleted
    | code_events.ChecksCompleted
    | code_events.EditProposed
    | code_events.EditApplied
    | code_events.EditStale
    | code_events.EditRejected
    | code_events.EditReverted
    | code_events.ChoiceMade
    | code_events.ChoiceFailed
)
PlanEvent = (
    plan_events.IntentChosen
    | plan_events.PlaceChosen
    | plan_events.PlanProposed
    | plan_events.PlanSkipped
    | plan_events.ItemDecided
    | plan_events.ItemCompleted
)
FlowEvent = (
    session_events.SessionStarted
    | session_events.SessionResumed
    | session_events.SessionForked
    | session_events.SessionClosed
    | session_events.LogRepaired
    | session_events.InvocationReceived
    | session_events.AutoInvocation
    | session_events.TurnStarted
    | session_events.TurnStopped
    | session_events.StepStarted
    | session_events.QueueAdded
    | session_events.QueueEdited
    | session_events.QueueRemoved
    | session_events.QueueTaken
    | session_events.AgentFinished
    | session_events.ModelChanged
    | session_events.ErrorOccurred
    | session_events.IndexUpdated
)
ModelEvent = (
    model_events.ModelStarted
    | model_events.ModelCompleted
    | model_events.ModelFailed
    | model_events.ModelCancelled
    | model_events.CompactionStarted
    | model_events.ToolOutputPromoted
    | model_events.CompactionSummary
    | model_events.CompactionSummaryFailed
    | model_events.CompactionCompleted
)
ToolEvent = (
    tool_events.ToolStarted
    | tool_events.ToolCompleted
    | tool_events.ToolFailed
    | tool_events.PermissionRequested
    | tool_events.PermissionDecided
    | tool_events.HookDecision
    | tool_events.TaskStarted
    | tool_events.TaskCompleted
    | tool_events.TaskFailed
    | tool_events.TaskCancelled
    | tool_events.ArtifactCreated
    | tool_events.CheckpointCreated
    | tool_events.SkillLoaded
)
SessionEvent = CodeEvent | PlanEvent | FlowEvent | ModelEvent | ToolEvent | UnknownEvent

__all__ = ["EVENT_CLASSES", "SessionEvent", "UnknownEvent", "event_type", "type_of"]
