//! Codes of each type of error (section 7.4.4).

use crate::number::numbers;

numbers! {
    /// The hello protocol failed.
    HelloFailed: u16 {
        /// No common version.
        Incompatible = 0,
        /// Permissions error.
        Eperm = 1,
    }
}

numbers! {
    /// The request was not understood.
    BadRequest: u16 {
        /// The version of the header is not supported.
        BadVersion = 0,
        /// The type of the header is not supported.
        BadType = 1,
        /// The type of the multipart request is not supported.
        BadMultipart = 2,
        /// The experimenter id is not supported.
        BadExperimenter = 3,
        /// The experimenter's type is not supported.
        BadExpType = 4,
        /// Permissions error.
        Eperm = 5,
        /// Wrong length for the type.
        BadLen = 6,
        /// The buffer has been used already.
        BufferEmpty = 7,
        /// The buffer does not exist.
        BufferUnknown = 8,
        /// The table is invalid or does not exist.
        BadTableId = 9,
        /// The controller is a slave.
        IsSlave = 10,
        /// Invalid port.
        BadPort = 11,
        /// Invalid packet in a packet-out.
        BadPacket = 12,
        /// The multipart request overflowed the assigned buffer.
        MultipartBufferOverflow = 13,
    }
}

numbers! {
    /// Error in the description of an action.
    BadAction: u16 {
        /// Unknown action type.
        BadType = 0,
        /// Length problem in actions.
        BadLen = 1,
        /// Unknown experimenter id.
        BadExperimenter = 2,
        /// Unknown action of the experimenter.
        BadExpType = 3,
        /// Problem with the port of an output.
        BadOutPort = 4,
        /// Bad argument.
        BadArgument = 5,
        /// Permissions error.
        Eperm = 6,
        /// More actions than can be handled.
        TooMany = 7,
        /// Problem with the queue.
        BadQueue = 8,
        /// Invalid group.
        BadOutGroup = 9,
        /// The action cannot apply for this match, or a set-field lacks its prerequisite.
        MatchInconsistent = 10,
        /// The order of actions is unsupported for apply-actions.
        UnsupportedOrder = 11,
        /// The action uses an unsupported tag or encapsulation.
        BadTag = 12,
        /// Unsupported type in a set-field.
        BadSetType = 13,
        /// Length problem in a set-field.
        BadSetLen = 14,
        /// Bad argument in a set-field.
        BadSetArgument = 15,
    }
}

numbers! {
    /// Error in the list of instructions.
    BadInstruction: u16 {
        /// Unknown instruction.
        UnknownInst = 0,
        /// The switch or the table does not support the instruction.
        UnsupInst = 1,
        /// Invalid table.
        BadTableId = 2,
        /// The value of metadata is not supported.
        UnsupMetadata = 3,
        /// The mask of metadata is not supported.
        UnsupMetadataMask = 4,
        /// Unknown experimenter id.
        BadExperimenter = 5,
        /// Unknown instruction of the experimenter.
        BadExpType = 6,
        /// Length problem in instructions.
        BadLen = 7,
        /// Permissions error.
        Eperm = 8,
    }
}

numbers! {
    /// Error in the match.
    BadMatch: u16 {
        /// Unsupported type of match.
        BadType = 0,
        /// Length problem in the match.
        BadLen = 1,
        /// The match uses an unsupported tag or encapsulation.
        BadTag = 2,
        /// Unsupported mask of a link-layer address.
        BadDlAddrMask = 3,
        /// Unsupported mask of a network address.
        BadNwAddrMask = 4,
        /// Unsupported combination of fields that are masked or omitted.
        BadWildcards = 5,
        /// Unsupported type of field.
        BadField = 6,
        /// Unsupported value of a field.
        BadValue = 7,
        /// Unsupported mask.
        BadMask = 8,
        /// A prerequisite is not met.
        BadPrereq = 9,
        /// A type of field stands twice.
        DupField = 10,
        /// Permissions error.
        Eperm = 11,
    }
}

numbers! {
    /// Problem with modifying flow entries.
    FlowModFailed: u16 {
        /// Unspecified error.
        Unknown = 0,
        /// The table is full.
        TableFull = 1,
        /// The table does not exist.
        BadTableId = 2,
        /// The entry would overlap with another, and the check was asked for.
        Overlap = 3,
        /// Permissions error.
        Eperm = 4,
        /// Unsupported timeout.
        BadTimeout = 5,
        /// Unsupported or unknown command.
        BadCommand = 6,
        /// Unsupported or unknown flags.
        BadFlags = 7,
    }
}

numbers! {
    /// Problem with modifying group entries.
    GroupModFailed: u16 {
        /// The group is there already.
        GroupExists = 0,
        /// The group is invalid.
        InvalidGroup = 1,
        /// Unequal load sharing is not supported.
        WeightUnsupported = 2,
        /// The group table is full.
        OutOfGroups = 3,
        /// More buckets than supported.
        OutOfBuckets = 4,
        /// Groups that forward to groups are not supported.
        ChainingUnsupported = 5,
        /// The group cannot watch the port or the group.
        WatchUnsupported = 6,
        /// The group would cause a loop.
        Loop = 7,
        /// The group to be modified does not exist.
        UnknownGroup = 8,
        /// Another group forwards to the group to be deleted.
        ChainedGroup = 9,
        /// Unsupported or unknown type of group.
        BadType = 10,
        /// Unsupported or unknown command.
        BadCommand = 11,
        /// Error in a bucket.
        BadBucket = 12,
        /// Error in a watch port or a watch group.
        BadWatch = 13,
        /// Permissions error.
        Eperm = 14,
    }
}

numbers! {
    /// A port modification failed.
    PortModFailed: u16 {
        /// The port does not exist.
        BadPort = 0,
        /// The hardware address is not that of the port.
        BadHwAddr = 1,
        /// The configuration is invalid.
        BadConfig = 2,
        /// The advertised features are invalid.
        BadAdvertise = 3,
        /// Permissions error.
        Eperm = 4,
    }
}

numbers! {
    /// A table modification failed.
    TableModFailed: u16 {
        /// The table does not exist.
        BadTable = 0,
        /// The configuration is invalid.
        BadConfig = 1,
        /// Permissions error.
        Eperm = 2,
    }
}

numbers! {
    /// A queue operation failed.
    QueueOpFailed: u16 {
        /// The port is invalid or does not exist.
        BadPort = 0,
        /// The queue does not exist.
        BadQueue = 1,
        /// Permissions error.
        Eperm = 2,
    }
}

numbers! {
    /// A switch configuration request failed.
    SwitchConfigFailed: u16 {
        /// The flags are invalid.
        BadFlags = 0,
        /// The length is invalid.
        BadLen = 1,
        /// Permissions error.
        Eperm = 2,
    }
}

numbers! {
    /// A role request failed.
    RoleRequestFailed: u16 {
        /// The generation id is old.
        Stale = 0,
        /// Changes of the role are not supported.
        Unsup = 1,
        /// The role is invalid.
        BadRole = 2,
    }
}

numbers! {
    /// Error in a meter.
    MeterModFailed: u16 {
        /// Unspecified error.
        Unknown = 0,
        /// The meter is there already.
        MeterExists = 1,
        /// The meter is invalid.
        InvalidMeter = 2,
        /// The meter to be modified does not exist.
        UnknownMeter = 3,
        /// Unsupported or unknown command.
        BadCommand = 4,
        /// Unsupported flags.
        BadFlags = 5,
        /// Unsupported rate.
        BadRate = 6,
        /// Unsupported burst size.
        BadBurst = 7,
        /// Unsupported band.
        BadBand = 8,
        /// Unsupported value of a band.
        BadBandValue = 9,
        /// No more meters are available.
        OutOfMeters = 10,
        /// More bands than supported.
        OutOfBands = 11,
    }
}

numbers! {
    /// Setting table features failed.
    TableFeaturesFailed: u16 {
        /// The table does not exist.
        BadTable = 0,
        /// Invalid mask of metadata.
        BadMetadata = 1,
        /// Unknown type of property.
        BadType = 2,
        /// Length problem in properties.
        BadLen = 3,
        /// Unsupported value of a property.
        BadArgument = 4,
        /// Permissions error.
        Eperm = 5,
    }
}
